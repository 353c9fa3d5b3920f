// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/encoding/utf8_edges.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

#include "sample_texts.hpp"

/// Small tokenizers with the habits of the real ones, for tests. All take any bytes. Quadratic.
namespace specdec::test {

/// Pieces that are encoded apart, cut like GPT-2's pattern over ASCII: a space and letters, a space
/// and up to three digits, a space and other signs, spaces. Bytes from 0x80 on count as letters.
inline std::vector<std::string_view> gpt2_pieces(std::string_view text) {
    const auto sort_of = [](char c) {
        const auto u = static_cast<unsigned char>(c);
        if (u == ' ' || u == '\n' || u == '\t' || u == '\r')
            return 0;
        if (u >= 0x80 || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z'))
            return 1;
        return u >= '0' && u <= '9' ? 2 : 3;
    };
    std::vector<std::string_view> pieces;
    std::size_t i = 0;
    while (i < text.size()) {
        std::size_t end = i;
        if (text[i] == ' ' && i + 1 < text.size() && sort_of(text[i + 1]) != 0)
            ++end;
        const int sort = sort_of(text[end]);
        const std::size_t longest = sort == 2 ? end + 3 : text.size();
        while (end < text.size() && end < longest && sort_of(text[end]) == sort)
            ++end;
        // Spaces leave their last one to the word behind them.
        if (sort == 0 && end < text.size() && end - i > 1)
            --end;
        pieces.push_back(text.substr(i, end - i));
        i = end;
    }
    return pieces;
}

struct bpe_options {
    bool pre_tokens =
        true; ///< cut into gpt2_pieces first; otherwise merges run over the whole text
    bool leading_space = false; ///< a text begins with a space (SentencePiece)
    bool characters = false;    ///< starts from characters; those without token fall back to bytes
};

/// Byte-pair encoding: joins the adjacent pair whose joined bytes are the token of best rank,
/// leftmost first. Ids 0 .. 255 are the bytes, then the given tokens in order of rank.
template <class Id>
class toy_bpe {
public:
    explicit toy_bpe(const std::vector<std::string>& tokens, bpe_options options = {})
        : options_(options) {
        for (int b = 0; b < 256; ++b)
            table_.add(std::string(1, static_cast<char>(b)),
                       options.characters ? token_kind::byte : token_kind::normal);
        for (const std::string& token : tokens)
            table_.add(token, token_kind::normal);
        for (std::size_t i = table_.size(); i-- > 0;)
            if (i >= 256 || !options.characters)
                rank_[std::string(table_.entry(i))] = static_cast<std::int32_t>(i);
    }
    /// From a table and the rank of each id (the greatest int: never the result of a join).
    toy_bpe(vocabulary table, const std::vector<std::int32_t>& ranks, bpe_options options)
        : options_(options), table_(std::move(table)) {
        for (std::size_t i = 0; i < table_.size(); ++i) {
            if (table_.kind(i) == token_kind::byte)
                byte_[static_cast<unsigned char>(table_.entry(i)[0])] =
                    static_cast<std::int32_t>(i);
            if (table_.kind(i) != token_kind::normal)
                continue;
            rank_[std::string(table_.entry(i))] = ranks[i];
            id_[std::string(table_.entry(i))] = static_cast<std::int32_t>(i);
        }
    }

    [[nodiscard]] const vocabulary& table() const { return table_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return table_.size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return table_.text(id.index()); }

    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        encoded_bytes += text.size();
        std::string prefixed;
        if (options_.leading_space && where == encode_mode::start && !text.empty()) {
            prefixed = " " + std::string(text);
            text = prefixed;
        }
        if (!options_.pre_tokens)
            return merge(text, out);
        for (const std::string_view piece : gpt2_pieces(text))
            merge(piece, out);
    }

    mutable std::size_t encoded_bytes = 0; ///< all bytes ever given to encode

private:
    static constexpr std::int32_t no_rank = std::numeric_limits<std::int32_t>::max();

    [[nodiscard]] std::int32_t rank_of(std::string_view token) const {
        const auto found = rank_.find(std::string(token));
        return found == rank_.end() ? no_rank : found->second;
    }

    void merge(std::string_view text, std::vector<Id>& out) const {
        std::vector<std::size_t> cuts{0}; // piece i is text[cuts[i], cuts[i + 1])
        for (std::size_t i = 1; i <= text.size(); ++i)
            if (!options_.characters || i == text.size() || !is_utf8_inner(text[i]))
                cuts.push_back(i);
        std::vector<std::int32_t> ranks; // of joining piece i and i + 1
        const auto rank_at = [&](std::size_t i) {
            return i + 2 < cuts.size() ? rank_of(text.substr(cuts[i], cuts[i + 2] - cuts[i]))
                                       : no_rank;
        };
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
            ranks.push_back(rank_at(i));
        for (;;) {
            std::size_t best = ranks.size();
            for (std::size_t i = 0; i < ranks.size(); ++i)
                if (ranks[i] != no_rank && (best == ranks.size() || ranks[i] < ranks[best]))
                    best = i;
            if (best == ranks.size())
                break;
            cuts.erase(cuts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
            ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(best));
            ranks[best] = rank_at(best);
            if (best > 0)
                ranks[best - 1] = rank_at(best - 1);
        }
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
            put(text.substr(cuts[i], cuts[i + 1] - cuts[i]), out);
    }

    void put(std::string_view piece, std::vector<Id>& out) const {
        if (!id_.empty()) {
            const auto found = id_.find(std::string(piece));
            if (found != id_.end())
                return out.push_back(Id{found->second});
        } else if (const std::int32_t id = rank_of(piece); id != no_rank) {
            return out.push_back(Id{id});
        }
        for (const char byte : piece)
            out.push_back(Id{byte_[static_cast<unsigned char>(byte)] >= 0
                                 ? byte_[static_cast<unsigned char>(byte)]
                                 : static_cast<std::int32_t>(static_cast<unsigned char>(byte))});
    }

    bpe_options options_;
    vocabulary table_;
    std::unordered_map<std::string, std::int32_t> rank_, id_;
    std::vector<std::int32_t> byte_ = std::vector<std::int32_t>(256, -1);
};

/// Tokens in order of rank, learned from a text: the commonest adjacent pair is joined, again and
/// again. With pieces false, words are still cut before their space (as SentencePiece learns).
inline std::vector<std::string> learn_merges(std::string_view text, std::size_t count,
                                             bool pieces = true) {
    std::vector<std::vector<std::string>> words;
    std::size_t begin = 0;
    if (pieces) {
        for (const std::string_view piece : gpt2_pieces(text)) {
            words.emplace_back();
            for (const char c : piece)
                words.back().emplace_back(1, c);
        }
    } else {
        for (std::size_t i = 1; i <= text.size(); ++i) {
            if (i < text.size() && !is_word_edge(text, i))
                continue;
            words.emplace_back();
            for (std::size_t k = begin; k < i; ++k) {
                if (k > begin && is_utf8_inner(text[k]))
                    words.back().back() += text[k];
                else
                    words.back().emplace_back(1, text[k]);
            }
            begin = i;
        }
    }
    std::vector<std::string> merges;
    if (!pieces) { // characters are tokens of their own, ahead of all joins
        std::unordered_map<std::string, int> seen;
        for (const auto& word : words)
            for (const auto& c : word)
                if (seen[c]++ == 0)
                    merges.push_back(c);
    }
    while (merges.size() < count) {
        std::unordered_map<std::string, int> counts;
        std::string best;
        for (const auto& word : words)
            for (std::size_t i = 0; i + 1 < word.size(); ++i)
                ++counts[word[i] + word[i + 1]];
        for (const auto& [pair, n] : counts) {
            const int most = best.empty() ? 1 : counts[best];
            if (n > most || (n == most && (best.empty() || pair < best)))
                best = pair;
        }
        if (best.empty())
            break;
        merges.push_back(best);
        for (auto& word : words)
            for (std::size_t i = 0; i + 1 < word.size(); ++i)
                if (word[i] + word[i + 1] == best) {
                    word[i] = best;
                    word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                }
    }
    return merges;
}

template <class Id>
const toy_bpe<Id>& gpt2_like() {
    static const toy_bpe<Id> tokenizer(learn_merges(sample_text(), 300));
    return tokenizer;
}
template <class Id>
const toy_bpe<Id>& llama_like() {
    static const toy_bpe<Id> tokenizer(learn_merges(sample_text(), 300, false),
                                       {false, true, true});
    return tokenizer;
}

/// The longest token that fits, from the left (the papers' definition of tokenizing). Ids 0 .. 255
/// are the bytes.
template <class Id>
class toy_longest_match {
public:
    explicit toy_longest_match(const std::vector<std::string>& tokens) {
        for (int b = 0; b < 256; ++b)
            table_.add(std::string(1, static_cast<char>(b)), token_kind::normal);
        for (const std::string& token : tokens)
            table_.add(token, token_kind::normal);
        for (std::size_t i = 0; i < table_.size(); ++i) {
            id_.emplace(table_.entry(i), static_cast<std::int32_t>(i));
            if (table_.entry(i).size() > longest_)
                longest_ = table_.entry(i).size();
        }
    }
    [[nodiscard]] const vocabulary& table() const { return table_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return table_.size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return table_.text(id.index()); }
    void encode(std::string_view text, encode_mode, std::vector<Id>& out) const {
        encoded_bytes += text.size();
        while (!text.empty()) {
            std::size_t n = text.size() < longest_ ? text.size() : longest_;
            while (n > 1 && !id_.contains(std::string(text.substr(0, n))))
                --n;
            out.push_back(Id{id_.at(std::string(text.substr(0, n)))});
            text.remove_prefix(n);
        }
    }
    mutable std::size_t encoded_bytes = 0;

private:
    vocabulary table_;
    std::unordered_map<std::string, std::int32_t> id_;
    std::size_t longest_ = 1;
};

/// Every text's first letter alone, then pairs: no text's tokens are those of its two parts. Small
/// letters only; ids 0 .. 25 are the letters, then come the pairs.
template <class Id>
class toy_first_alone {
public:
    toy_first_alone() {
        for (int i = 0; i < 26; ++i)
            table_.add(std::string(1, static_cast<char>('a' + i)), token_kind::normal);
        for (std::size_t i = 0; i < 26; ++i)
            for (std::size_t k = 0; k < 26; ++k)
                table_.add(std::string(table_.entry(i)) + std::string(table_.entry(k)),
                           token_kind::normal);
    }
    [[nodiscard]] const vocabulary& table() const { return table_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return table_.size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return table_.text(id.index()); }
    void encode(std::string_view text, encode_mode, std::vector<Id>& out) const {
        encoded_bytes += text.size();
        for (std::size_t i = 0; i < text.size();) {
            const bool pair = i > 0 && i + 1 < text.size();
            const int first = text[i] - 'a';
            out.push_back(Id{pair ? 26 + 26 * first + (text[i + 1] - 'a') : first});
            i += pair ? 2 : 1;
        }
    }
    mutable std::size_t encoded_bytes = 0;

private:
    vocabulary table_;
};

/// A tokenizer that rewrites the text before it encodes it: not injective.
template <class Inner, class Id>
class normalising {
public:
    using normaliser = std::string (*)(std::string_view);
    normalising(Inner inner, normaliser rewrite) : inner_(std::move(inner)), rewrite_(rewrite) {}
    [[nodiscard]] const vocabulary& table() const { return inner_.table(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return inner_.vocabulary_size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return inner_.bytes(id); }
    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        encoded_bytes += text.size();
        inner_.encode(rewrite_(text), where, out);
    }
    mutable std::size_t encoded_bytes = 0;

private:
    Inner inner_;
    normaliser rewrite_;
};

inline std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
    std::string result(text);
    for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos; at += to.size())
        result.replace(at, from.size(), to);
    return result;
}

/// Some of Unicode's NFC: e, a and o with combining acute or diaeresis become one character.
inline std::string some_nfc(std::string_view text) {
    std::string result(text);
    for (const auto& [from, to] : {std::pair{"e\u0301", "\u00e9"},
                                   {"a\u0301", "\u00e1"},
                                   {"o\u0308", "\u00f6"},
                                   {"a\u0308", "\u00e4"}})
        result = replace_all(result, from, to);
    return result;
}

/// SentencePiece: a literal U+2581 is a space.
inline std::string literal_space_sign(std::string_view text) {
    return replace_all(text, "\u2581", " ");
}

/// Runs of spaces become one, none stands before a full stop or comma.
inline std::string clean_up_spaces(std::string_view text) {
    std::string result(text);
    while (result.find("  ") != std::string::npos)
        result = replace_all(result, "  ", " ");
    return replace_all(replace_all(result, " .", "."), " ,", ",");
}

/// Like clean_up_spaces; moreover no spaces at the ends of a text.
inline std::string strip_spaces(std::string_view text) {
    std::string result = clean_up_spaces(text);
    while (!result.empty() && result.back() == ' ')
        result.pop_back();
    while (!result.empty() && result.front() == ' ')
        result.erase(0, 1);
    return result;
}

/// A tokenizer of whole characters: bytes that make none become U+FFFD.
inline std::string whole_characters(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        while (end < text.size() && is_utf8_inner(text[end]))
            ++end;
        const std::string_view piece = text.substr(i, end - i);
        if (is_utf8_inner(piece[0]) || utf8_tail(piece) > 0)
            result += "\ufffd";
        else
            result += piece;
        i = end;
    }
    return result;
}

} // namespace specdec::test
