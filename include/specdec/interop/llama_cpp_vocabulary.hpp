// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <llama.h>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// What llama.cpp's attributes make of a token.
[[nodiscard]] inline token_kind llama_cpp_kind(llama_token_attr attributes) {
    const unsigned bits = attributes;
    if ((bits & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0)
        return token_kind::control;
    if ((bits & LLAMA_TOKEN_ATTR_USER_DEFINED) != 0)
        return token_kind::user;
    if ((bits & LLAMA_TOKEN_ATTR_BYTE) != 0)
        return token_kind::byte;
    return (bits & LLAMA_TOKEN_ATTR_NORMAL) != 0 ? token_kind::normal : token_kind::unused;
}

/// The byte table of a llama_vocab: for text tokens the bytes they add to a text (byte tokens one
/// raw byte, signs for spaces as spaces, byte-level letters as bytes), for the others the printed
/// name. Complexity: linear in the vocabulary. Allocates.
/// Errors: specdec::error for a model without vocabulary.
[[nodiscard]] inline vocabulary llama_cpp_vocabulary(const llama_vocab* vocab) {
    if (llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_NONE)
        throw error("llama_vocab_type", "vocabulary",
                    "expected a model with a vocabulary, found none");
    vocabulary table;
    std::string piece(64, '\0');
    const std::int32_t size = llama_vocab_n_tokens(vocab);
    for (llama_token id = 0; id < size; ++id) {
        const token_kind kind = llama_cpp_kind(llama_vocab_get_attr(vocab, id));
        if (kind == token_kind::control || kind == token_kind::unused) {
            table.add(llama_vocab_get_text(vocab, id), kind);
            continue;
        }
        const auto read = [&] {
            return llama_token_to_piece(vocab, id, piece.data(),
                                        static_cast<std::int32_t>(piece.size()), 0, false);
        };
        std::int32_t length = read();
        if (length < 0) { // the length that it needs
            piece.resize(static_cast<std::size_t>(-length));
            length = read();
        }
        table.add(std::string_view(piece).substr(0, static_cast<std::size_t>(length)), kind);
    }
    return table;
}

} // namespace specdec
