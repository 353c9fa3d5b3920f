// SPDX-License-Identifier: MIT
// Any bytes: a GGUF file opens, shows every value, and loads as a model, or gives a specdec::error.
#include <cstdint>
#include <vector>

#include <specdec_engine/file/gguf_checkpoint.hpp>
#include <specdec_engine/load.hpp>

using namespace specdec::engine;

namespace {

template <class Read>
void attempt(const Read& read) {
    try {
        read();
    } catch (const specdec::error&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    attempt([&] {
        const gguf_file file(std::as_bytes(std::span(data, size)), "fuzz");
        for (const char* key : {"general.architecture", "tokenizer.ggml.tokens", "k", "llama.x"}) {
            const gguf_value* value = file.find(key);
            if (value == nullptr)
                continue;
            attempt([&] { static_cast<void>(value->integer()); });
            attempt([&] { static_cast<void>(value->number()); });
            attempt([&] { static_cast<void>(value->boolean()); });
            attempt([&] { static_cast<void>(value->string()); });
            attempt([&] { static_cast<void>(value->strings()); });
            attempt([&] { static_cast<void>(value->floats()); });
            attempt([&] { static_cast<void>(value->integers()); });
        }
        const checkpoint c = open_gguf(file);
        const load_options options{.context = {.threads = 1, .capacity = 4, .rows = 2}};
        transformer t = make_transformer(c, options);
        const std::vector<std::int32_t> ids = {0, 0};
        t.score(ids);
    });
    return 0;
}
