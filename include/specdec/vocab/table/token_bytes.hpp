// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>

/// Comparing tokens with the text they stand for, without joining their bytes. Linear in the bytes
/// compared, no allocation.
namespace specdec {

/// The last n bytes. Pre: n <= text.size().
[[nodiscard]] constexpr std::string_view last_bytes(std::string_view text, std::size_t n) {
    return text.substr(text.size() - n);
}

/// Whether the bytes of the tokens, joined, are the text.
template <class Id, TokenizerOf<Id> Tokenizer>
[[nodiscard]] bool bytes_equal(const Tokenizer& tokenizer, const std::vector<Id>& tokens,
                               std::string_view text) {
    for (const Id id : tokens) {
        const std::string_view token = tokenizer.bytes(id);
        if (!text.starts_with(token))
            return false;
        text.remove_prefix(token.size());
    }
    return text.empty();
}

/// Whether the bytes of the tokens, joined, end with the text.
template <class Id, TokenizerOf<Id> Tokenizer>
[[nodiscard]] bool bytes_end_with(const Tokenizer& tokenizer, const std::vector<Id>& tokens,
                                  std::string_view text) {
    for (std::size_t i = tokens.size(); !text.empty(); --i) {
        if (i == 0)
            return false;
        const std::string_view token = tokenizer.bytes(tokens[i - 1]);
        if (token.size() >= text.size())
            return token.ends_with(text);
        if (!text.ends_with(token))
            return false;
        text.remove_suffix(token.size());
    }
    return true;
}

/// The number of tokens in front whose bytes, joined, are exactly the text: the token boundary at
/// its end. tokens.size() + 1 if there is none.
template <class Id, TokenizerOf<Id> Tokenizer>
[[nodiscard]] std::size_t boundary_behind(const Tokenizer& tokenizer, const std::vector<Id>& tokens,
                                          std::string_view text) {
    std::size_t i = 0;
    for (; !text.empty() && i < tokens.size(); ++i) {
        const std::string_view token = tokenizer.bytes(tokens[i]);
        if (!text.starts_with(token))
            break;
        text.remove_prefix(token.size());
    }
    return text.empty() ? i : tokens.size() + 1;
}

} // namespace specdec
