// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::lower_bound
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional> // std::greater, std::less
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <utf8proc.h>

#include <specdec/reference/tokenizer/utf8.hpp>

namespace specdec::reference {

/// A token that is found in a text as a whole, before any merges.
struct added_token {
    std::string content;
    std::int32_t id = -1;
    bool takes_left_space = false;  ///< swallows white space before it ("lstrip")
    bool takes_right_space = false; ///< and behind it ("rstrip")
    bool single_word = false;       ///< only where no letter, mark or digit touches it
};

/// Finds added tokens: the leftmost, of those the longest.
/// Complexity: in the text linear, times the lengths that added tokens of one first byte have.
class added_tokens {
public:
    /// Empty contents are never found; of two tokens with one content the first is.
    void add(added_token token) {
        if (token.content.empty())
            return;
        const std::size_t length = token.content.size();
        auto& lengths = lengths_[static_cast<unsigned char>(token.content[0])];
        const auto at = std::lower_bound(lengths.begin(), lengths.end(), length, std::greater<>());
        if (at == lengths.end() || *at != length)
            lengths.insert(at, length);
        const std::string content = token.content;
        tokens_.emplace(content, std::move(token));
    }
    [[nodiscard]] bool empty() const { return tokens_.empty(); }

    /// Calls on_text(begin, end) for what lies between (never empty) and on_token(id), in order.
    template <class Text, class Token>
    void for_each(std::string_view text, Text&& on_text, Token&& on_token) const {
        std::size_t done = 0; // everything before has been handed out
        for (std::size_t i = 0; !empty() && i < text.size();) {
            const added_token* found = match(text, i);
            if (found == nullptr) {
                ++i;
                continue;
            }
            std::size_t begin = i;
            i += found->content.size();
            if (found->single_word && (is_word(text, previous(text, begin)) || is_word(text, i)))
                continue; // nothing is found inside it either
            if (found->takes_left_space)
                begin = space_before(text, done, begin);
            if (begin > done)
                on_text(done, begin);
            if (found->takes_right_space)
                i = space_behind(text, i);
            on_token(found->id);
            done = i;
        }
        if (done < text.size())
            on_text(done, text.size());
    }

private:
    [[nodiscard]] const added_token* match(std::string_view text, std::size_t i) const {
        for (const std::size_t length : lengths_[static_cast<unsigned char>(text[i])]) {
            const auto found = tokens_.find(text.substr(i, length));
            if (found != tokens_.end())
                return &found->second;
        }
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

    std::array<std::vector<std::size_t>, 256> lengths_{}; // by first byte, the longest first
    std::map<std::string, added_token, std::less<>> tokens_;
};

} // namespace specdec::reference
