// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/encoding/utf8_edges.hpp>
#include <specdec/vocab/table/checked.hpp>
#include <specdec/vocab/table/token_bytes.hpp>

namespace specdec {

/// A place in a text and in its encoding: text = front + back, tokens = those of front, of back.
struct encoding_split {
    std::size_t byte = 0;
    std::size_t token = 0;

    [[nodiscard]] bool found() const { return byte > 0; }
};

/// Finds places where an encoding can be cut: there the back, encoded by itself as a continuation,
/// has the same tokens as in the whole. So a text that grows at its end can be encoded from there
/// on. The tokenizer is only called; nothing is known about it. It tries places where a word ends
/// (a space behind something else) first, then others.
///
/// Parameters of both searches: `tokens` == encode(text, where); the place lies in
/// [earliest, latest], 0 < earliest, latest < text.size().
/// Complexity: a fixed number of encodes of what lies behind `earliest`. Allocation: none once the
/// buffers have grown. Keeps a reference to the tokenizer.
template <class Tokenizer, class Id>
    requires TokenizerOf<Tokenizer, Id>
class encoding_splitter {
public:
    explicit encoding_splitter(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

    void reserve(std::size_t n) {
        back_.reserve(n);
        front_.reserve(n);
    }

    /// Finds such a place, or none. If normalising hides which bytes belong to which token, the
    /// front is encoded, too, and must have the first tokens of the whole.
    [[nodiscard]] encoding_split exact(std::string_view text, encode_mode where,
                                       std::span<const Id> tokens, std::size_t earliest,
                                       std::size_t latest) {
        const auto same_tokens = [&](encoding_split place) {
            return equal(encode_back(text, place), tokens.subspan(place.token));
        };
        const encoding_split place = at_tokens(text, tokens, earliest, latest, same_tokens);
        return place.found() ? place : between_tokens(text, where, tokens, earliest, latest);
    }

    /// A weaker one: the back by itself has other tokens, but the same bytes. (Within a word of
    /// great length.)
    [[nodiscard]] encoding_split by_bytes(std::string_view text, std::span<const Id> tokens,
                                          std::size_t earliest, std::size_t latest) {
        const auto same_bytes = [&](encoding_split place) {
            return bytes_equal(*tokenizer_, encode_back(text, place), text.substr(place.byte));
        };
        return at_tokens(text, tokens, earliest, latest, same_bytes);
    }

private:
    static constexpr std::size_t most_tries = 4; // places tried of each sort

    /// From the end, as far as the tokens' bytes are those of the text: the borders of tokens.
    template <class Accept>
    encoding_split at_tokens(std::string_view text, std::span<const Id> tokens,
                             std::size_t earliest, std::size_t latest, const Accept& accept) const {
        encoding_split others[most_tries];
        std::size_t edge_count = 0, other_count = 0;
        std::string_view front = text;
        for (std::size_t i = tokens.size(); i-- > 0;) {
            const std::string_view token = tokenizer_->bytes(tokens[i]);
            if (!front.ends_with(token))
                break;
            front.remove_suffix(token.size());
            const encoding_split place{front.size(), i};
            if (place.byte > latest)
                continue;
            if (place.byte < earliest)
                break;
            if (is_word_edge(text, place.byte)) {
                if (edge_count++ < most_tries && accept(place))
                    return place;
            } else if (other_count < most_tries && !is_utf8_inner(text[place.byte])) {
                others[other_count++] = place;
            }
        }
        for (std::size_t k = 0; k < other_count; ++k)
            if (accept(others[k]))
                return others[k];
        return {};
    }

    /// Where the bytes do not tell: the back's tokens must be the last ones, the front's the first.
    encoding_split between_tokens(std::string_view text, encode_mode where,
                                  std::span<const Id> tokens, std::size_t earliest,
                                  std::size_t latest) {
        for (const bool at_edge : {true, false}) {
            std::size_t tries = 0;
            for (std::size_t at = latest; at >= earliest && tries < most_tries; --at) {
                if (is_word_edge(text, at) != at_edge)
                    continue;
                if (text[at] == ' ' ? !at_edge : is_utf8_inner(text[at]))
                    continue;
                ++tries;
                const std::span<const Id> back = encode_back(text, {at, 0});
                if (back.size() > tokens.size())
                    continue;
                const std::size_t token = tokens.size() - back.size();
                if (!equal(back, tokens.subspan(token)))
                    continue;
                front_.clear();
                specdec::encode(*tokenizer_, text.substr(0, at), where, front_);
                if (equal(front_, tokens.first(token)))
                    return {at, token};
            }
        }
        return {};
    }

    const std::vector<Id>& encode_back(std::string_view text, encoding_split place) {
        back_.clear();
        specdec::encode(*tokenizer_, text.substr(place.byte), encode_mode::continuation, back_);
        return back_;
    }

    static bool equal(std::span<const Id> a, std::span<const Id> b) {
        if (a.size() != b.size())
            return false;
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i] != b[i])
                return false;
        return true;
    }

    const Tokenizer* tokenizer_;
    std::vector<Id> back_, front_; // scratch
};

} // namespace specdec
