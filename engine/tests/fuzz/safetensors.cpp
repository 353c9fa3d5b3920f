// SPDX-License-Identifier: MIT
// Any bytes: read_safetensors gives tensors inside the bytes or a specdec::error, nothing else; so
// does the router that reads them.
#include <cstdint>
#include <vector>

#include <specdec_engine/drafter/router_file.hpp>
#include <specdec_engine/file/quantised.hpp>
#include <specdec_engine/file/safetensors.hpp>

using namespace specdec::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto bytes = std::as_bytes(std::span(data, size));
        for (const tensor& t : read_safetensors(bytes, "fuzz")) {
            if (t.type == dtype::other || t.bytes.empty() || t.shape.size() > 2)
                continue;
            std::vector<float> row(t.columns());
            read_row(t, t.rows() - 1, row);
        }
        const router_weights router = parse_router(bytes, "fuzz");
        if (router.inner.size() != router.width * router.width || router.groups() == 0)
            __builtin_trap();
    } catch (const specdec::error&) {
    }
    return 0;
}
