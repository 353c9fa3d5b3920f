// SPDX-License-Identifier: MIT
// Any bytes: a tokenizer.json loads and encodes, or gives a specdec::error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuzz/encode_check.hpp>
#include <specdec_engine/tokenizer/file/tokenizer_json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check_encoding([&] { return specdec::engine::read_tokenizer_json(bytes, "fuzz"); });
    return 0;
}
