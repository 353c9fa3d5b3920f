// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <specdec/core/concepts.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/encoding/utf8_edges.hpp>
#include <specdec/vocab/table/byte_order.hpp>

namespace specdec {

/// A set of bytes.
class byte_set {
public:
    void add(char byte) { words_[index(byte) / 64] |= std::uint64_t{1} << index(byte) % 64; }
    [[nodiscard]] bool has(char byte) const {
        return (words_[index(byte) / 64] >> index(byte) % 64 & 1) != 0;
    }

private:
    static std::size_t index(char byte) { return static_cast<unsigned char>(byte); }
    std::array<std::uint64_t, 4> words_{};
};

/// Knows where a text in the target's vocabulary can be cut without changing its tokens: the tokens
/// before such a place are final (the "first target token has been determined" of Timor et al.
/// 2025, Lookahead). Never inside a UTF-8 character. Immutable, shareable between threads; views
/// the tokenizer's bytes. Memory: 8 KB and 24 bytes a token. Construction: O(V log V).
class safe_cuts {
public:
    template <TokenizerOf<target_id> Tokenizer>
    explicit safe_cuts(const Tokenizer&& gone_before_use) = delete;
    template <TokenizerOf<target_id> Tokenizer>
    explicit safe_cuts(const Tokenizer& tokenizer) : order_(tokenizer) {
        for (std::size_t i = 0; i < tokenizer.vocabulary_size(); ++i) {
            const std::string_view token = tokenizer.bytes(id_at<target_id>(i));
            for (std::size_t k = 1; k < token.size(); ++k) {
                const std::size_t pair = index(token[k - 1], token[k]);
                joined_[pair / 64] |= std::uint64_t{1} << pair % 64;
            }
        }
    }

    /// Whether no token holds the two bytes next to each other: every encoding has a border between
    /// them, whatever the text around. O(1).
    [[nodiscard]] bool between(char before, char after) const {
        const std::size_t pair = index(before, after);
        return (joined_[pair / 64] >> pair % 64 & 1) == 0 && !is_utf8_inner(after);
    }

    /// Whether some token begins with `text` and goes on.
    [[nodiscard]] bool extends(std::string_view text) const {
        return !order_.extending(text).empty();
    }

    /// Adds to `next` every byte that some token has behind `text`, with which it begins.
    void add_next(std::string_view text, byte_set& next) const {
        order_.by_byte(order_.extending(text), text.size(),
                       [&](char byte, order_range) { next.add(byte); });
    }

private:
    static std::size_t index(char before, char after) {
        return std::size_t{static_cast<unsigned char>(before)} * 256 +
               static_cast<unsigned char>(after);
    }

    byte_order<target_id> order_;
    std::array<std::uint64_t, 1024> joined_{}; // bit per pair: some token holds it
};

} // namespace specdec
