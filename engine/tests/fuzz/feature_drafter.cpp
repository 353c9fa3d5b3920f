// SPDX-License-Identifier: MIT
// Any bytes: as a GGUF file of the eagle3 architecture they open or give a specdec::error, and so
// do they as speculators' config.json.
#include <cstdint>
#include <string_view>

#include <specdec_engine/drafter/gguf_feature_checkpoint.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace specdec::engine;
    try {
        const gguf_file file(std::as_bytes(std::span(data, size)), "fuzz");
        const feature_checkpoint c = open_gguf_features(file);
        static_cast<void>(pack_features<float>(c, 1));
    } catch (const specdec::error&) {
    }
    try {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        if (read_speculators_config(text, "fuzz").block.layers != 1)
            __builtin_trap();
    } catch (const specdec::error&) {
    }
    return 0;
}
