// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <specdec/core/concepts.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/utf8_edges.hpp>

namespace specdec {

/// Pairs of neighbouring bytes that no token of a vocabulary holds: between them every encoding has
/// a border of tokens, whatever the text around them. Where a text has one, what stands before it
/// is encoded for good: the "first target token has been determined" of Timor et al. (2025),
/// Lookahead, decided by two bytes. Never inside a UTF-8 character. Immutable, 8 KB.
/// Construction: linear in the bytes of the vocabulary.
class seams {
public:
    template <class Tokenizer>
        requires TokenizerOf<Tokenizer, target_id>
    explicit seams(const Tokenizer& tokenizer) {
        for (std::size_t i = 0; i < tokenizer.vocabulary_size(); ++i) {
            const std::string_view token = tokenizer.bytes(id_at<target_id>(i));
            for (std::size_t k = 1; k < token.size(); ++k) {
                const std::size_t pair = index(token[k - 1], token[k]);
                joined_[pair / 64] |= std::uint64_t{1} << pair % 64;
            }
        }
    }

    /// Whether every encoding has a border between the bytes.
    [[nodiscard]] bool between(char before, char after) const {
        const std::size_t pair = index(before, after);
        return (joined_[pair / 64] >> pair % 64 & 1) == 0 && !is_utf8_inner(after);
    }

private:
    static std::size_t index(char before, char after) {
        return std::size_t{static_cast<unsigned char>(before)} * 256 +
               static_cast<unsigned char>(after);
    }

    std::array<std::uint64_t, 1024> joined_{}; // bit per pair: some token holds it
};

} // namespace specdec
