// SPDX-License-Identifier: MIT
// Any bytes: the tokenizer of a GGUF file loads and encodes, or gives a specdec::error.
#include <cstddef>
#include <cstdint>
#include <span>

#include <fuzz/encode_check.hpp>
#include <specdec/reference/tokenizer/file/gguf_tokenizer.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check_encoding([&] {
        return specdec::reference::read_gguf_tokenizer(
            specdec::reference::gguf_file(std::as_bytes(std::span(data, size)), "fuzz"));
    });
    return 0;
}
