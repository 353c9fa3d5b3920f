// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "papers/byte_trie.hpp"
#include <specdec/vocab/table/vocabulary.hpp>

/// How many ways there are to write a target token t with draft tokens: the terms of psi(t), and
/// the drafter forwards that string-level rejection (Timor et al., Algorithm 3) would need to sum
/// them one by one (section 3.4 and Appendix D).
namespace specdec::papers {

/// Both numbers saturate: `most` means 2^63 - 1 or more.
struct spellings {
    static constexpr std::uint64_t most = 0x7fffffffffffffffu;

    /// Sequences of draft tokens that spell exactly the bytes of t (Figure 1: 14 for "hello").
    std::uint64_t ways = 0;
    /// Contexts in which the drafter has to be asked: the sequences that spell a proper prefix of
    /// t, the empty one included, and can be finished (Figure 1: 16).
    std::uint64_t contexts = 0;

    friend bool operator==(const spellings&, const spellings&) = default;
};

/// Whether SentencePiece's <0x41> counts as a way to write "A". Its tokenizer never writes it so,
/// a drafter that samples may. (Appendix D's vocabulary has no byte tokens.)
enum class byte_tokens { left_out, counted };

/// Counts for one drafter's vocabulary. Tokens of equal bytes are different ways. Complexity: one
/// walk through the vocabulary's bytes; a count takes at most O(n * m), n bytes of the text, m of
/// the longest draft token. Immutable; nothing of the vocabulary is kept.
class spelling_counter {
public:
    explicit spelling_counter(const vocabulary& draft, byte_tokens bytes = byte_tokens::left_out)
        : pieces_(draft, [&](std::size_t i) {
              return bytes == byte_tokens::counted || draft.kind(i) != token_kind::byte;
          }) {}

    /// Of any bytes. Allocates vectors of their size. All of Qwen2's 151,646 tokens with Qwen2's
    /// take less than a second.
    [[nodiscard]] spellings count(std::string_view text) const {
        std::vector<bool> ends(text.size() + 1, false); // whether the bytes from i on can be spelt
        ends[text.size()] = true;
        for (std::size_t i = text.size(); i-- > 0;)
            pieces_.for_each_beginning(text.substr(i), [&](std::size_t size, std::uint32_t) {
                ends[i] = ends[i] || ends[i + size];
            });
        // ways[j] = sum over i < j of ways[i] * tokens that are text[i, j), ways[0] = 1.
        std::vector<std::uint64_t> ways(text.size() + 1, 0);
        ways[0] = 1;
        spellings result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (ways[i] == 0 || !ends[i])
                continue;
            result.contexts = sum(result.contexts, ways[i]);
            pieces_.for_each_beginning(text.substr(i), [&](std::size_t size, std::uint32_t tokens) {
                ways[i + size] = sum(ways[i + size], product(ways[i], tokens));
            });
        }
        result.ways = ways[text.size()];
        return result;
    }

private:
    static std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
        return a + b < spellings::most ? a + b : spellings::most; // both are at most `most`
    }
    static std::uint64_t product(std::uint64_t a, std::uint64_t b) {
        return a <= spellings::most / b ? a * b : spellings::most;
    }

    byte_trie pieces_;
};

} // namespace specdec::papers
