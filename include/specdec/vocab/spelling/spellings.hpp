// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <specdec/vocab/spelling/byte_trie.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

/// How many ways there are to write a target token t with draft tokens: the terms of psi(t), and
/// the drafter forwards that string-level rejection (Timor et al., Algorithm 3) would need to sum
/// them one by one (section 3.4 and Appendix D).
namespace specdec {

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

    /// Of any bytes. Allocates vectors of their size.
    [[nodiscard]] spellings count(std::string_view text) const {
        scratch buffers;
        return count(text, buffers);
    }

    /// Of every token of a vocabulary, by id; {} for those without text. Qwen2's 151,646 tokens
    /// with Qwen2's take less than a second.
    [[nodiscard]] std::vector<spellings> count_all(const vocabulary& target) const {
        std::vector<spellings> counts(target.size());
        scratch buffers;
        for (std::size_t t = 0; t < target.size(); ++t)
            if (!target.text(t).empty())
                counts[t] = count(target.text(t), buffers);
        return counts;
    }

private:
    struct scratch {
        std::vector<std::uint64_t> ways; // of spelling the first i bytes
        std::vector<bool> ends;          // whether the bytes from i on can be spelt
    };

    /// ways[j] = sum over i < j of ways[i] * tokens that are text[i, j), ways[0] = 1.
    spellings count(std::string_view text, scratch& of) const {
        of.ends.assign(text.size() + 1, false);
        of.ends[text.size()] = true;
        for (std::size_t i = text.size(); i-- > 0;)
            pieces_.for_each_beginning(text.substr(i), [&](std::size_t size, std::uint32_t) {
                of.ends[i] = of.ends[i] || of.ends[i + size];
            });
        of.ways.assign(text.size() + 1, 0);
        of.ways[0] = 1;
        spellings result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::uint64_t ways = of.ways[i];
            if (ways == 0 || !of.ends[i])
                continue;
            result.contexts = sum(result.contexts, ways);
            pieces_.for_each_beginning(text.substr(i), [&](std::size_t size, std::uint32_t tokens) {
                of.ways[i + size] = sum(of.ways[i + size], product(ways, tokens));
            });
        }
        result.ways = of.ways[text.size()];
        return result;
    }

    static std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
        return a + b < spellings::most ? a + b : spellings::most; // both are at most `most`
    }
    static std::uint64_t product(std::uint64_t a, std::uint64_t b) {
        return a <= spellings::most / b ? a * b : spellings::most;
    }

    byte_trie pieces_;
};

} // namespace specdec
