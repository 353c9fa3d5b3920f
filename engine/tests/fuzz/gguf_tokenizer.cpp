// SPDX-License-Identifier: MIT
// Any bytes: the tokenizer of a GGUF file loads and encodes, or gives a specdec::error.
#include <cstddef>
#include <cstdint>
#include <span>

#include <fuzz/encode_check.hpp>
#include <specdec_engine/tokenizer/file/gguf_tokenizer.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check_encoding([&] {
        return specdec::engine::read_gguf_tokenizer(
            specdec::engine::gguf_file(std::as_bytes(std::span(data, size)), "fuzz"));
    });
    return 0;
}
