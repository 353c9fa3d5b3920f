// SPDX-License-Identifier: MIT
// Any bytes: a SentencePiece model loads and encodes, or gives a specdec::error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuzz/encode_check.hpp>
#include <specdec_engine/tokenizer/file/sentencepiece_model.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check_encoding([&] { return specdec::engine::read_sentencepiece_model(bytes, "fuzz"); });
    return 0;
}
