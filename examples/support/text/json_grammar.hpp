// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <specdec/process/grammar_mask.hpp>

/// JSON objects, not empty, without spaces, of ASCII, and of bounded size, so that texts end:
/// an automaton over bytes, as grammar_mask wants it. Everything bounded is counted in the state.
struct json_object {
    static constexpr std::uint8_t deepest = 3, most_members = 4, longest = 16; // bytes of a scalar

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
        bool is_key = false;                 // the string
        std::uint8_t length = 0;             // of the scalar
        std::uint8_t depth = 0;              // open objects and arrays
        std::array<char, deepest> closing{}; // by what each of them ends
        std::array<std::uint8_t, deepest> members{};
        std::string_view rest{}; // of the word
    };

    [[nodiscard]] state_type begin() const { return {}; }
    [[nodiscard]] bool complete(const state_type& s) const { return s.now == expects::nothing; }

    bool step(state_type& s, char c) const {
        const bool digit = c >= '0' && c <= '9';
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
            if (c == '"')
                return go(s, s.is_key ? expects::colon : expects::comma_or_end);
            return c >= ' ' && c <= '~' && ++s.length <= longest &&
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
    static bool go(state_type& s, expects now) {
        s.now = now;
        return true;
    }
    static bool open(state_type& s, char c) {
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
    static bool value(state_type& s, char c) {
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
    static bool next(state_type& s, char c) {
        const auto top = static_cast<std::size_t>(s.depth - 1);
        if (c != ',')
            return close(s, c);
        return s.members[top]++ < most_members &&
               go(s, s.closing[top] == '}' ? expects::key : expects::value);
    }
};
static_assert(specdec::ByteGrammar<json_object>);
