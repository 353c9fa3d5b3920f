// SPDX-License-Identifier: MIT
// Any bytes: a llama2.c tokenizer loads and encodes, or gives a specdec::error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuzz/encode_check.hpp>
#include <specdec_engine/tokenizer/file/llama2c_tokenizer.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check_encoding([&] { return specdec::engine::read_llama2c_tokenizer(bytes, "fuzz"); });
    return 0;
}
