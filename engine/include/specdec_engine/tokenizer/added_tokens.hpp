// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::lower_bound, std::sort
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional> // std::greater, std::less
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <utf8proc.h>

#include <specdec_engine/tokenizer/utf8.hpp>

namespace specdec::engine {

/// A token that is found in a text as a whole, before any merges.
struct added_token {
    std::string content;
    std::int32_t id = -1;
    bool takes_left_space = false;  ///< swallows white space before it ("lstrip")
    bool takes_right_space = false; ///< and behind it ("rstrip")
    bool single_word = false;       ///< only where no letter, mark or digit touches it
};

/// Which of two added tokens is found where both stand in a text and overlap.
enum class added_order {
    leftmost, ///< the one that begins first, of those the longest (Hugging Face)
    longest,  ///< the longest, of those with the lower id, of one id the leftmost (llama.cpp)
};

/// Finds added tokens in a text.
/// Complexity: in the text linear, times the lengths that added tokens of one first byte have; for
/// added_order::longest, where any stands in it, times the lengths that all of them have.
class added_tokens {
public:
    explicit added_tokens(added_order order = added_order::leftmost) : order_(order) {}

    /// Empty contents are never found; of two tokens with one content the first is.
    void add(added_token token) {
        if (token.content.empty())
            return;
        for (auto* const lengths :
             {&lengths_[static_cast<unsigned char>(token.content[0])], &lengths_of_all_}) {
            const std::size_t length = token.content.size();
            const auto at =
                std::lower_bound(lengths->begin(), lengths->end(), length, std::greater<>());
            if (at == lengths->end() || *at != length)
                lengths->insert(at, length);
        }
        const std::string content = token.content;
        tokens_.emplace(content, std::move(token));
    }
    [[nodiscard]] bool empty() const { return tokens_.empty(); }
    /// Forgets tokens from that id on.
    void keep_below(std::int32_t end) {
        std::erase_if(tokens_, [end](const auto& token) { return token.second.id >= end; });
    }

    /// Calls on_text(begin, end) for what lies between (never empty) and on_token(id), in order.
    template <class Text, class Token>
    void for_each(std::string_view text, Text&& on_text, Token&& on_token) const {
        switch (order_) {
        case added_order::leftmost:
            return leftmost(text, on_text, on_token);
        case added_order::longest:
            return longest(text, on_text, on_token);
        }
    }

private:
    /// A token in a text.
    struct place {
        std::size_t begin;
        const added_token* token;

        [[nodiscard]] std::size_t end() const { return begin + token->content.size(); }
    };

    template <class Text, class Token>
    void leftmost(std::string_view text, Text&& on_text, Token&& on_token) const {
        std::size_t done = 0; // everything before has been handed out
        for (std::size_t i = 0; !empty() && i < text.size();) {
            const added_token* found = match(text, i);
            if (found == nullptr) {
                ++i;
                continue;
            }
            const place at{i, found};
            i = at.end();
            if (!touches_word(text, at)) // else nothing is found inside it either
                i = done = hand_out(text, at, done, on_text, on_token);
        }
        if (done < text.size())
            on_text(done, text.size());
    }

    template <class Text, class Token>
    void longest(std::string_view text, Text&& on_text, Token&& on_token) const {
        std::vector<std::size_t> begins; // of what may be taken
        for (std::size_t i = 0; !empty() && i < text.size(); ++i)
            if (match(text, i) != nullptr)
                begins.push_back(i);
        std::vector<place> places, of_length;
        std::vector<bool> taken(begins.empty() ? 0 : text.size());
        for (const std::size_t length : lengths_of_all_) {
            if (begins.empty())
                break;
            of_length.clear();
            for (const std::size_t i : begins)
                if (const added_token* const found = match(text, i, length))
                    of_length.push_back({i, found});
            std::sort(of_length.begin(), of_length.end(), [](const place& a, const place& b) {
                return a.token->id != b.token->id ? a.token->id < b.token->id : a.begin < b.begin;
            });
            for (const place& at : of_length) {
                // What is taken already is no shorter: it covers an end of what it overlaps.
                if (taken[at.begin] || taken[at.end() - 1] || touches_word(text, at))
                    continue;
                for (std::size_t i = at.begin; i < at.end(); ++i)
                    taken[i] = true;
                places.push_back(at);
            }
        }
        std::sort(places.begin(), places.end(),
                  [](const place& a, const place& b) { return a.begin < b.begin; });
        std::size_t done = 0;
        for (const place& at : places)
            done = hand_out(text, at, done, on_text, on_token);
        if (done < text.size())
            on_text(done, text.size());
    }

    /// Hands out the text from `done` to the token and the token; returns where the rest begins.
    template <class Text, class Token>
    static std::size_t hand_out(std::string_view text, const place& at, std::size_t done,
                                Text&& on_text, Token&& on_token) {
        const std::size_t begin =
            at.token->takes_left_space ? space_before(text, done, at.begin) : at.begin;
        if (begin > done)
            on_text(done, begin);
        on_token(at.token->id);
        return at.token->takes_right_space ? space_behind(text, at.end()) : at.end();
    }

    static bool touches_word(std::string_view text, const place& at) {
        return at.token->single_word &&
               (is_word(text, previous(text, at.begin)) || is_word(text, at.end()));
    }

    [[nodiscard]] const std::vector<std::size_t>& lengths_at(std::string_view text,
                                                             std::size_t i) const {
        return lengths_[static_cast<unsigned char>(text[i])];
    }

    /// The token of that length that stands there, or null.
    [[nodiscard]] const added_token* match(std::string_view text, std::size_t i,
                                           std::size_t length) const {
        const auto found =
            text.size() - i < length ? tokens_.end() : tokens_.find(text.substr(i, length));
        return found == tokens_.end() ? nullptr : &found->second;
    }

    /// The longest token that stands there, or null.
    [[nodiscard]] const added_token* match(std::string_view text, std::size_t i) const {
        for (const std::size_t length : lengths_at(text, i))
            if (const added_token* const found = match(text, i, length))
                return found;
        return nullptr;
    }

    /// Where the code point before i begins; text.size() if there is none.
    static std::size_t previous(std::string_view text, std::size_t i) {
        for (std::size_t back = 1; back <= 4 && back <= i; ++back)
            if (decode_utf8(text, i - back).bytes == back)
                return i - back;
        return text.size();
    }

    static bool is_word(std::string_view text, std::size_t i) {
        if (i >= text.size())
            return false;
        const code_point c = decode_utf8(text, i);
        if (c.bytes == 0)
            return false;
        if (c.value == 0x200C || c.value == 0x200D)
            return true; // joiners
        const auto category = utf8proc_category(static_cast<std::int32_t>(c.value));
        return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
               category == UTF8PROC_CATEGORY_PC;
    }

    static bool is_space(std::string_view text, std::size_t i) {
        const code_point c = decode_utf8(text, i);
        if (c.bytes == 0)
            return false;
        if ((c.value >= 9 && c.value <= 13) || c.value == 0x85)
            return true;
        const auto category = utf8proc_category(static_cast<std::int32_t>(c.value));
        return category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP;
    }

    static std::size_t space_before(std::string_view text, std::size_t done, std::size_t i) {
        while (i > done) {
            const std::size_t at = previous(text, i);
            if (at >= text.size() || at < done || !is_space(text, at))
                break;
            i = at;
        }
        return i;
    }

    static std::size_t space_behind(std::string_view text, std::size_t i) {
        while (i < text.size() && is_space(text, i))
            i += decode_utf8(text, i).bytes;
        return i;
    }

    added_order order_;
    std::array<std::vector<std::size_t>, 256> lengths_{}; // by first byte, the longest first
    std::vector<std::size_t> lengths_of_all_;             // the longest first
    std::map<std::string, added_token, std::less<>> tokens_;
};

} // namespace specdec::engine
