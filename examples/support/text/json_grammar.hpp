// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <specdec/process/grammar_mask.hpp>

/// JSON objects, not empty and of bounded size, so that texts end: an automaton over bytes, as
/// grammar_mask wants it. Everything bounded is counted in the state. Numbers have no exponents,
/// and strings no code points in hexadecimal: they have the characters themselves.
struct json_object {
    static constexpr std::uint8_t deepest_of_all = 16;
    std::uint8_t deepest = 3; ///< open objects and arrays, at most deepest_of_all
    std::uint16_t most_members = 4;
    std::uint16_t longest = 16;   ///< bytes of a string, digits of each part of a number
    std::uint8_t most_spaces = 0; ///< spaces and ends of lines, at each place that may have some
    bool any_character = false;   ///< of Unicode, in strings; else of ASCII

    enum class expects : std::uint8_t {
        object,
        value,
        value_or_end, ///< behind [
        key,
        key_or_end, ///< behind {
        colon,
        in_string,
        escaped,
        minus_seen,
        zero_seen,
        digits,
        point_seen,
        fraction,
        in_word, ///< true, false, null
        comma_or_end,
        nothing
    };
    struct state_type {
        expects now = expects::object;
        bool is_key = false;                        // the string
        std::uint16_t length = 0;                   // of the scalar
        std::uint8_t spaces = 0;                    // so far, here
        std::uint8_t inner = 0;                     // bytes of a character that have to follow
        std::uint8_t low = 0x80, high = 0xBF;       // the next of them
        std::uint8_t depth = 0;                     // open objects and arrays
        std::array<char, deepest_of_all> closing{}; // by what each of them ends
        std::array<std::uint16_t, deepest_of_all> members{};
        std::string_view rest{}; // of the word
    };

    [[nodiscard]] state_type begin() const { return {}; }
    [[nodiscard]] bool complete(const state_type& s) const { return s.now == expects::nothing; }

    bool step(state_type& s, char c) const {
        const bool digit = c >= '0' && c <= '9';
        if (c == ' ' || c == '\n') {
            if (has_ended_number(s.now)) // behind which a space stands as well
                s.now = expects::comma_or_end;
            if (may_have_spaces(s.now))
                return s.spaces++ < most_spaces;
        } else {
            s.spaces = 0;
        }
        switch (s.now) {
        case expects::object:
            return c == '{' && open(s, c);
        case expects::value_or_end:
            return c == ']' ? close(s, c) : value(s, c);
        case expects::value:
            return value(s, c);
        case expects::key_or_end:
            return c == '}' ? s.depth > 1 && close(s, c) : key(s, c);
        case expects::key:
            return key(s, c);
        case expects::colon:
            return c == ':' && go(s, expects::value);
        case expects::in_string:
            if (c == '"' && s.inner == 0)
                return go(s, s.is_key ? expects::colon : expects::comma_or_end);
            return character(s, static_cast<std::uint8_t>(c)) && ++s.length <= longest &&
                   go(s, c == '\\' ? expects::escaped : expects::in_string);
        case expects::escaped:
            return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos &&
                   go(s, expects::in_string);
        case expects::minus_seen:
            return digit && go(s, c == '0' ? expects::zero_seen : expects::digits);
        case expects::zero_seen:
            return c == '.' ? go(s, expects::point_seen) : next(s, c);
        case expects::digits:
            if (digit)
                return ++s.length <= longest;
            return c == '.' ? go(s, expects::point_seen) : next(s, c);
        case expects::point_seen:
            return digit && go(s, expects::fraction);
        case expects::fraction:
            return digit ? ++s.length <= longest : next(s, c);
        case expects::in_word:
            if (c != s.rest.front())
                return false;
            s.rest.remove_prefix(1);
            return go(s, s.rest.empty() ? expects::comma_or_end : expects::in_word);
        case expects::comma_or_end:
            return next(s, c);
        case expects::nothing:
            break;
        }
        return false;
    }

private:
    static bool may_have_spaces(expects now) {
        return now == expects::value || now == expects::value_or_end || now == expects::key ||
               now == expects::key_or_end || now == expects::colon || now == expects::comma_or_end;
    }
    static bool has_ended_number(expects now) {
        return now == expects::zero_seen || now == expects::digits || now == expects::fraction;
    }
    /// A byte of a string: of printable ASCII or, in place of that, of a character in UTF-8.
    bool character(state_type& s, std::uint8_t byte) const {
        if (s.inner > 0) {
            const bool follows = byte >= s.low && byte <= s.high;
            --s.inner;
            s.low = 0x80;
            s.high = 0xBF;
            return follows;
        }
        if (byte < 0x80)
            return byte >= ' ' && byte <= '~';
        if (!any_character || byte < 0xC2 || byte > 0xF4)
            return false;
        s.inner = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
        s.low = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;  // nothing that is too long
        s.high = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF; // no halves, nothing too large
        return true;
    }
    static bool go(state_type& s, expects now) {
        s.now = now;
        return true;
    }
    bool open(state_type& s, char c) const {
        if (s.depth == deepest)
            return false;
        s.closing[s.depth] = c == '{' ? '}' : ']';
        s.members[s.depth++] = 1;
        return go(s, c == '{' ? expects::key_or_end : expects::value_or_end);
    }
    static bool close(state_type& s, char c) {
        return c == s.closing[--s.depth] &&
               go(s, s.depth == 0 ? expects::nothing : expects::comma_or_end);
    }
    static bool key(state_type& s, char c) {
        s.is_key = true;
        s.length = 0;
        return c == '"' && go(s, expects::in_string);
    }
    bool value(state_type& s, char c) const {
        s.is_key = false;
        s.length = 0;
        for (const std::string_view word : {"true", "false", "null"})
            if (c == word.front()) {
                s.rest = word.substr(1);
                return go(s, expects::in_word);
            }
        if (c == '{' || c == '[')
            return open(s, c);
        if (c == '-' || c == '"')
            return go(s, c == '-' ? expects::minus_seen : expects::in_string);
        return c >= '0' && c <= '9' && go(s, c == '0' ? expects::zero_seen : expects::digits);
    }
    /// Behind a member.
    bool next(state_type& s, char c) const {
        const auto top = static_cast<std::size_t>(s.depth - 1);
        if (c != ',')
            return close(s, c);
        return s.members[top]++ < most_members &&
               go(s, s.closing[top] == '}' ? expects::key : expects::value);
    }
};
static_assert(specdec::ByteGrammar<json_object>);
