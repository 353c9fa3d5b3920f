// SPDX-License-Identifier: MIT
// Any bytes: a llama2.c file loads as a model that scores, or gives a specdec::error.
#include <cstdint>
#include <vector>

#include <specdec_engine/load.hpp>

using namespace specdec::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const load_options options{.context = {.threads = 1, .capacity = 4, .rows = 2}};
        transformer t =
            make_transformer(open_llama2c(std::as_bytes(std::span(data, size)), "fuzz"), options);
        const std::vector<std::int32_t> ids = {0, 0};
        t.score(ids);
    } catch (const specdec::error&) {
    }
    return 0;
}
