// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/process/grammar_mask.hpp>

namespace specdec::examples {

/// How large JSON may become, so that texts end.
struct json_limits {
    static constexpr std::uint8_t deepest_of_all = 16;
    std::uint8_t deepest = 3;       ///< open objects and arrays, at most deepest_of_all
    std::uint16_t most_members = 4; ///< of an array, and of an object with keys of any name
    std::uint16_t longest = 16;     ///< characters of a string, digits of each part of a number
    std::uint8_t most_spaces = 0;   ///< spaces and ends of lines, at each place that may have some
    bool any_character = false;     ///< of Unicode, in strings; else of ASCII
};

/// What values may be. Parts are named by their numbers, so that they may contain themselves;
/// values[0] is the whole text, an object. json_schema.hpp makes them of a JSON schema.
struct json_shapes {
    static constexpr std::uint16_t none = 0xFFFF, no_limit = 0xFFFF;
    static constexpr std::uint8_t endless = 0xFF; ///< levels of what cannot end

    /// The alternatives, of which no two begin with the same byte.
    struct value {
        std::uint16_t object = none, array = none, string = none;
        std::uint16_t texts = none; ///< one of these
        bool number = false, integer = false, yes = false, no = false, null = false;
    };
    struct property {
        std::string key; ///< with its quotes
        std::uint16_t value = 0;
        bool required = false;
    };
    /// Properties in this order; or, if `others` is there, members with keys of any name.
    struct object {
        std::vector<property> properties{};
        std::uint16_t others = none; ///< the values of keys of any name
        std::uint16_t least = 0;     ///< such members
        std::uint8_t levels = 1;     ///< that it has at least, itself included
    };
    struct array {
        std::uint16_t items = 0;
        std::uint16_t least = 0, most = no_limit;
        std::uint8_t levels = 1; ///< that it has at least, itself included
    };
    struct string {
        std::uint16_t least = 0, most = no_limit; ///< characters
    };

    std::vector<value> values{};
    std::vector<object> objects{};
    std::vector<array> arrays{};
    std::vector<string> strings{};
    std::vector<std::vector<std::string>> texts{}; ///< of JSON, each list not empty

    /// Adds a value that may be anything; its number.
    std::uint16_t add_any() {
        const std::uint16_t self = number_of(values);
        values.push_back({.object = number_of(objects),
                          .array = number_of(arrays),
                          .string = number_of(strings),
                          .number = true,
                          .yes = true,
                          .no = true,
                          .null = true});
        objects.push_back({.others = self});
        arrays.push_back({.items = self});
        strings.push_back({});
        return self;
    }
    /// Levels of objects and arrays that a value has at least.
    [[nodiscard]] std::uint8_t levels(const value& v) const {
        if (v.string != none || v.texts != none || v.number || v.integer || v.yes || v.no || v.null)
            return 0;
        return std::min(v.object == none ? endless : objects[v.object].levels,
                        v.array == none ? endless : arrays[v.array].levels);
    }
    [[nodiscard]] std::uint8_t levels(std::uint16_t v) const { return levels(values[v]); }

    template <class T>
    static std::uint16_t number_of(const std::vector<T>& list) {
        return static_cast<std::uint16_t>(list.size());
    }
};

/// Objects that have members, whatever they are.
[[nodiscard]] inline json_shapes any_json_object() {
    json_shapes s;
    s.values.push_back({.object = 0});
    s.objects.push_back({.others = 1, .least = 1});
    s.add_any();
    return s;
}

/// JSON of bounded size: an automaton over bytes, as grammar_mask wants it. Everything bounded is
/// counted in the state. Numbers have no exponents, and strings no code points in hexadecimal: they
/// have the characters themselves. Copies share the shapes.
class json_grammar {
public:
    enum class expects : std::uint8_t {
        value,
        value_or_end, ///< behind [
        key,
        key_or_end, ///< behind {
        colon,
        in_key, ///< one of the properties'
        in_string,
        escaped,
        in_text, ///< one of a list
        minus_seen,
        zero_seen,
        digits,
        point_seen,
        fraction,
        in_word, ///< true, false, null
        comma_or_end,
        nothing
    };
    struct level {
        std::uint16_t part = 0; ///< the number of the object or array
        std::uint16_t value = 0;
        std::uint16_t members = 0; ///< that have begun
        std::uint16_t next = 0;    ///< property that may come
        bool array = false;
    };
    struct state_type {
        expects now = expects::value;
        bool is_key = false;                  // the string
        bool integer = false;                 // the number
        std::uint8_t spaces = 0;              // so far, here
        std::uint8_t inner = 0;               // bytes of a character that have to follow
        std::uint8_t low = 0x80, high = 0xBF; // the next of them
        std::uint8_t depth = 0;               // open objects and arrays
        std::uint16_t length = 0;             // of the scalar, and of what has been read of a text
        std::uint16_t least = 0, most = 0;    // characters of the string
        std::uint16_t chosen = 0;             // the first text that begins as what was read
        std::array<level, json_limits::deepest_of_all> open{};
        std::string_view rest{}; // of the word
    };

    /// Pre: shapes that can end in so many levels: levels(0) <= limits.deepest.
    explicit json_grammar(json_limits limits = {}, json_shapes allowed = any_json_object())
        : limits_(limits), shapes_(std::make_shared<const json_shapes>(std::move(allowed))) {}

    [[nodiscard]] state_type begin() const { return {}; }
    [[nodiscard]] bool complete(const state_type& s) const { return s.now == expects::nothing; }

    bool step(state_type& s, char c) const {
        if (s.now == expects::in_text) {
            const auto& texts = shapes_->texts[value_of(s).texts];
            if (read_on(s, c, texts))
                return true;
            if (s.length < texts[s.chosen].size())
                return false;
            go(s, expects::comma_or_end);
        }
        const bool digit = c >= '0' && c <= '9';
        if (c == ' ' || c == '\n') {
            if (has_ended_number(s.now)) // behind which a space stands as well
                s.now = expects::comma_or_end;
            if (may_have_spaces(s))
                return s.spaces++ < limits_.most_spaces;
        } else {
            s.spaces = 0;
        }
        switch (s.now) {
        case expects::value_or_end:
            return c == ']' ? close(s, c) : member(s) && value(s, c);
        case expects::value:
            return value(s, c);
        case expects::key_or_end:
            return c == '}' ? close(s, c) : member(s) && key(s, c);
        case expects::key:
            return key(s, c);
        case expects::in_key:
            return in_key(s, c);
        case expects::colon:
            return c == ':' && go(s, expects::value);
        case expects::in_string:
            if (c == '"' && s.inner == 0)
                return s.length >= s.least &&
                       go(s, s.is_key ? expects::colon : expects::comma_or_end);
            return character(s, static_cast<std::uint8_t>(c)) &&
                   go(s, c == '\\' ? expects::escaped : expects::in_string);
        case expects::escaped:
            return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos &&
                   go(s, expects::in_string);
        case expects::minus_seen:
            return digit && go(s, c == '0' ? expects::zero_seen : expects::digits);
        case expects::zero_seen:
            return c == '.' ? !s.integer && go(s, expects::point_seen) : next(s, c);
        case expects::digits:
            if (digit)
                return ++s.length <= limits_.longest;
            return c == '.' ? !s.integer && go(s, expects::point_seen) : next(s, c);
        case expects::point_seen:
            return digit && go(s, expects::fraction);
        case expects::fraction:
            return digit ? ++s.length <= limits_.longest : next(s, c);
        case expects::in_word:
            if (c != s.rest.front())
                return false;
            s.rest.remove_prefix(1);
            return go(s, s.rest.empty() ? expects::comma_or_end : expects::in_word);
        case expects::comma_or_end:
            return next(s, c);
        case expects::in_text:
        case expects::nothing:
            break;
        }
        return false;
    }

private:
    using shapes = json_shapes;

    static bool may_have_spaces(const state_type& s) {
        const expects now = s.now;
        return s.depth > 0 && (now == expects::value || now == expects::value_or_end ||
                               now == expects::key || now == expects::key_or_end ||
                               now == expects::colon || now == expects::comma_or_end);
    }
    static bool has_ended_number(expects now) {
        return now == expects::zero_seen || now == expects::digits || now == expects::fraction;
    }
    static bool go(state_type& s, expects now) {
        s.now = now;
        return true;
    }
    static level& top(state_type& s) { return s.open[s.depth - 1U]; }
    static const level& top(const state_type& s) { return s.open[s.depth - 1U]; }
    /// What is being read, or has to follow.
    [[nodiscard]] const shapes::value& value_of(const state_type& s) const {
        return shapes_->values[s.depth == 0 ? 0 : top(s).value];
    }
    /// Whether a value can end within the levels that are left.
    [[nodiscard]] bool has_room(const state_type& s, std::uint16_t value) const {
        return shapes_->levels(value) <= limits_.deepest - s.depth;
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
        if (++s.length > s.most)
            return false;
        if (byte < 0x80)
            return byte >= ' ' && byte <= '~';
        if (!limits_.any_character || byte < 0xC2 || byte > 0xF4)
            return false;
        s.inner = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
        s.low = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;  // nothing that is too long
        s.high = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF; // no halves, nothing too large
        return true;
    }

    /// One more byte of a text of list[0 .. end): some text that may come, and that begins as what
    /// was read, goes on so. Pre: s.chosen < list.size().
    template <class List, class Text, class May>
    static bool read_on(state_type& s, char c, const List& list, std::size_t end,
                        const Text& text_of, const May& may) {
        const std::string_view read = std::string_view(text_of(list[s.chosen])).substr(0, s.length);
        for (std::size_t i = s.chosen; i < end; ++i) {
            const std::string_view text = text_of(list[i]);
            if (may(list[i]) && text.starts_with(read) && text.size() > read.size() &&
                text[read.size()] == c) {
                s.chosen = static_cast<std::uint16_t>(i);
                ++s.length;
                return true;
            }
        }
        return false;
    }
    static bool read_on(state_type& s, char c, const std::vector<std::string>& texts) {
        return read_on(
            s, c, texts, texts.size(), [](const std::string& t) -> const std::string& { return t; },
            [](const std::string&) { return true; });
    }

    bool value(state_type& s, char c) const {
        const shapes::value& v = value_of(s);
        s.is_key = false;
        s.length = 0;
        if (v.texts != shapes::none) {
            const auto& texts = shapes_->texts[v.texts];
            s.chosen = 0;
            if (read_on(s, c, texts))
                return go(s, expects::in_text);
        }
        const std::pair<bool, std::string_view> words[] = {
            {v.yes, "true"}, {v.no, "false"}, {v.null, "null"}};
        for (const auto& [may, word] : words)
            if (may && c == word.front()) {
                s.rest = word.substr(1);
                return go(s, expects::in_word);
            }
        if (c == '{')
            return v.object != shapes::none && open(s, v.object, shapes_->objects[v.object].levels);
        if (c == '[')
            return v.array != shapes::none &&
                   open(s, v.array, shapes_->arrays[v.array].levels, true);
        if (c == '"')
            return v.string != shapes::none && open_string(s, shapes_->strings[v.string]);
        if (!v.number && !v.integer)
            return false;
        s.integer = !v.number;
        if (c == '-')
            return go(s, expects::minus_seen);
        return c >= '0' && c <= '9' && go(s, c == '0' ? expects::zero_seen : expects::digits);
    }
    bool open_string(state_type& s, const shapes::string& shape) const {
        s.least = shape.least;
        s.most = std::min(shape.most, limits_.longest);
        return go(s, expects::in_string);
    }
    bool open(state_type& s, std::uint16_t part, std::uint8_t levels, bool array = false) const {
        if (levels > limits_.deepest - s.depth)
            return false;
        level& opened = s.open[s.depth++] = {.part = part, .array = array};
        if (array)
            opened.value = shapes_->arrays[part].items;
        return go(s, array ? expects::value_or_end : expects::key_or_end);
    }

    /// Begins a member of what is open, if it may have one more.
    bool member(state_type& s) const {
        level& t = top(s);
        if (t.array)
            return t.members++ < std::min(shapes_->arrays[t.part].most, limits_.most_members);
        return shapes_->objects[t.part].others == shapes::none ||
               t.members++ < limits_.most_members;
    }
    bool key(state_type& s, char c) const {
        const shapes::object& of = shapes_->objects[top(s).part];
        s.length = 0;
        if (of.others == shapes::none) {
            s.chosen = top(s).next;
            return in_key(s, c);
        }
        top(s).value = of.others;
        s.is_key = true;
        return c == '"' && has_room(s, of.others) && open_string(s, {});
    }
    /// A byte of a property's key: of one that may come before the next that has to.
    bool in_key(state_type& s, char c) const {
        level& t = top(s);
        const auto& list = shapes_->objects[t.part].properties;
        std::size_t end = t.next;
        while (end < list.size() && !list[end].required)
            ++end;
        end = std::min(end + 1, list.size());
        if (s.chosen >= end ||
            !read_on(
                s, c, list, end,
                [](const shapes::property& p) -> const std::string& { return p.key; },
                [&](const shapes::property& p) { return has_room(s, p.value); }))
            return false;
        if (s.length < list[s.chosen].key.size())
            return go(s, expects::in_key);
        t.value = list[s.chosen].value;
        t.next = static_cast<std::uint16_t>(s.chosen + 1);
        return go(s, expects::colon);
    }
    bool close(state_type& s, char c) const {
        const level& t = top(s);
        if (t.array) {
            if (c != ']' || t.members < shapes_->arrays[t.part].least)
                return false;
        } else {
            const shapes::object& of = shapes_->objects[t.part];
            if (c != '}' || t.members < of.least ||
                std::any_of(of.properties.begin() + t.next, of.properties.end(),
                            [](const shapes::property& p) { return p.required; }))
                return false;
        }
        --s.depth;
        return go(s, s.depth == 0 ? expects::nothing : expects::comma_or_end);
    }
    /// Behind a member.
    bool next(state_type& s, char c) const {
        if (c != ',')
            return close(s, c);
        return member(s) && more_properties(s) &&
               go(s, top(s).array ? expects::value : expects::key);
    }
    /// Whether an object of properties can have another one.
    [[nodiscard]] bool more_properties(const state_type& s) const {
        const level& t = top(s);
        if (t.array || shapes_->objects[t.part].others != shapes::none)
            return true;
        const auto& list = shapes_->objects[t.part].properties;
        return std::any_of(list.begin() + t.next, list.end(),
                           [&](const shapes::property& p) { return has_room(s, p.value); });
    }

    json_limits limits_;
    std::shared_ptr<const json_shapes> shapes_;
};
static_assert(ByteGrammar<json_grammar>);

} // namespace specdec::examples
