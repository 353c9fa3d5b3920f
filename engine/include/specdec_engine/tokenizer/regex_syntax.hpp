// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include <specdec/core/error.hpp>

namespace specdec::engine {

/// What \s means in patterns. Encoders differ in U+0085 and U+FEFF.
enum class white_space_rule {
    unicode,    ///< the property White_Space: Oniguruma and Rust, hence Hugging Face and tiktoken
    ecmascript, ///< the encoders in JavaScript: not U+0085, but U+FEFF
};

namespace detail {

/// Where "{n,m}" that stands at `at` ends, behind its brace; `at` where no such repetition does.
inline std::size_t end_of_repetition(std::string_view pattern, std::size_t at) {
    constexpr std::string_view digits = "0123456789";
    if (pattern[at] != '{')
        return at;
    std::size_t end = pattern.find_first_not_of(digits, at + 1);
    if (end != std::string_view::npos && pattern[end] == ',')
        end = pattern.find_first_not_of(digits, end + 1);
    const bool whole = end != std::string_view::npos && pattern[end] == '}';
    const bool numbers = pattern.substr(at, 2) != "{}" && pattern.substr(at, 3) != "{,}";
    return whole && numbers ? end + 1 : at;
}

/// Where the options of "(?im-x:" or "(?m)" end that stand at `at`; `at` where none do.
inline std::size_t end_of_options(std::string_view pattern, std::size_t at) {
    if (pattern.substr(at, 2) != "(?")
        return at;
    const std::size_t end = pattern.find_first_not_of("imsx-", at + 2);
    return end == std::string_view::npos || (pattern[end] != ':' && pattern[end] != ')') ? at : end;
}

/// Whether a set's class has the same characters in Oniguruma as in PCRE2.
inline bool is_common_class(std::string_view name) {
    for (const std::string_view common : {"[:digit:]", "[:cntrl:]", "[:xdigit:]", "[:ascii:]",
                                          "[:^digit:]", "[:^cntrl:]", "[:^xdigit:]", "[:^ascii:]"})
        if (name == common)
            return true;
    return false;
}

/// A property of characters, what stands between the braces of \p{}, in PCRE2's syntax. Of a script
/// PCRE2 from 10.40 on takes the script extensions, unless "sc:" stands before its name; before, it
/// took the script and did not know "sc:". So PCRE2 itself is asked.
inline std::string pcre2_property(std::string_view name) {
    const std::string_view sign = name.starts_with('^') ? "^" : "";
    name.remove_prefix(sign.size());
    const std::string as_script = "sc:" + std::string(name);
    const std::string pattern = "\\p{" + as_script + "}";
    int code = 0;
    std::size_t at = 0;
    const bool plain = name.find_first_of("\\{}^:=") == std::string_view::npos;
    const std::unique_ptr<pcre2_code_8, void (*)(pcre2_code_8*)> known(
        plain ? pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
                                PCRE2_UTF, &code, &at, nullptr)
              : nullptr,
        [](pcre2_code_8* compiled) { pcre2_code_free_8(compiled); });
    return std::string(sign).append(known ? as_script : name);
}

} // namespace detail

/// A pattern in the dialect of tokenizer.json (Oniguruma's for Ruby, its doc/RE) in PCRE2's. With
/// PCRE2_MULTILINE and (*LF), ^ and $ are those of lines in both: a newline at the end of the text
/// begins no line, but $ matches before and behind it.
///   \s \S   by the rule (PCRE2's own \s also takes U+180E)
///   \w \W   as UTS 18 has it, but without the joiners U+200C and U+200D, and outside a set with
///           Latin-1's superscripts and fractions (PCRE2 10.42's \w has no marks, one connector)
///   \b \B   between such characters and others
///   \h \H   hexadecimal digits (PCRE2's own: horizontal white space)
///   \v      U+000B (PCRE2's own: all vertical white space)
///   (?m)    . takes newlines, too: (?s)
///   {,n}    {0,n} (PCRE2 10.42's: the text itself)
///   \uHHHH  \x{HHHH}
///   \p{Han} \p{sc:Han}, and so for every script (PCRE2's own: script extensions)
///   \pL     the letters p and L (PCRE2's own: a property)
/// Errors: what the two read differently and has no counterpart: sets inside sets, && between sets,
/// classes such as [:alpha:] but for [:space:], [:digit:], [:cntrl:], [:xdigit:] and [:ascii:], \S,
/// \W, \H or \B inside a set, {n,m}+ (any number of times), {n}? (or none), \Q, \E, \V (letters).
/// And \G: where a search begins is the matcher's business (regex.hpp).
[[nodiscard]] inline std::string to_pcre2_syntax(std::string_view pattern, white_space_rule rule,
                                                 const std::string& source,
                                                 const std::string& field) {
    const std::string word_in_set = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
    const std::string word = word_in_set + "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";
    const std::string space =
        rule == white_space_rule::unicode
            ? "\\p{White_Space}"
            : "\\t-\\r\\x{FEFF}\\p{Z}"; // Z: all spaces but the control characters
    const std::string digit = "0-9a-fA-F";
    const std::string in_word = "(?<=[" + word + "])", to_word = "(?=[" + word + "])";
    const std::string no_word = "(?<![" + word + "])", to_none = "(?![" + word + "])";
    const auto refuse = [&](const std::string& what) {
        throw error(source, field,
                    "expected a regular expression without " + what + ", found " +
                        std::string(pattern));
    };
    bool in_set = false;
    const auto members = [&](char escaped) -> const std::string& {
        return escaped == 's' || escaped == 'S'   ? space
               : escaped == 'h' || escaped == 'H' ? digit
               : in_set                           ? word_in_set
                                                  : word;
    };
    std::string out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\' && i + 1 < pattern.size()) {
            const char escaped = pattern[++i];
            switch (escaped) {
            case 's':
            case 'w':
            case 'h':
                out += in_set ? members(escaped) : "[" + members(escaped) + "]";
                break;
            case 'S':
            case 'W':
            case 'H':
                if (in_set)
                    refuse("\\S, \\W or \\H inside a set");
                out += "[^" + members(escaped) + "]";
                break;
            case 'b':
                out += in_set ? "\\b" : "(?:" + in_word + to_none + "|" + no_word + to_word + ")";
                break;
            case 'B':
                if (in_set)
                    refuse("\\B inside a set");
                out += "(?:" + in_word + to_word + "|" + no_word + to_none + ")";
                break;
            case 'v':
                out += "\\x{B}";
                break;
            case 'Q':
            case 'E':
            case 'V':
            case 'G':
                refuse("\\Q, \\E, \\V or \\G");
                break;
            case 'u':
                if (pattern.size() - i <= 4)
                    refuse("an unfinished \\u");
                out.append("\\x{").append(pattern.substr(i + 1, 4)).append("}");
                i += 4;
                break;
            case 'p':
            case 'P':
                if (pattern.substr(i + 1, 1) != "{") {
                    out += escaped;
                } else {
                    const std::size_t close = pattern.find('}', i);
                    if (close == std::string_view::npos)
                        refuse("an unfinished \\p{}");
                    const std::string_view name = pattern.substr(i + 2, close - i - 2);
                    ((out += '\\') += escaped) += "{" + detail::pcre2_property(name) + "}";
                    i = close;
                }
                break;
            default:
                (out += '\\') += escaped;
                // Their braces repeat nothing.
                if (std::string_view("xo").find(escaped) != std::string_view::npos &&
                    pattern.substr(i + 1, 1) == "{")
                    out += pattern[++i];
            }
            continue;
        }
        if (const std::size_t end = detail::end_of_options(pattern, i); !in_set && end > i) {
            for (; i < end; ++i)
                out += pattern[i] == 'm' ? 's' : pattern[i];
            out += pattern[i];
            continue;
        }
        if (const std::size_t end = detail::end_of_repetition(pattern, i); !in_set && end > i) {
            const std::string_view numbers = pattern.substr(i + 1, end - i - 1); // and the brace
            const std::string_view behind = pattern.substr(end, 1);
            if (behind == "+")
                refuse("+ after {}");
            if (behind == "?" && numbers.find(',') == std::string_view::npos)
                refuse("? after {n}");
            out.append(numbers.starts_with(',') ? "{0" : "{").append(numbers);
            i = end - 1;
            continue;
        }
        if (in_set && c == '[') {
            if (pattern.substr(i, 2) != "[:")
                refuse("a set inside a set");
            const std::size_t close = pattern.find(":]", i);
            if (close == std::string_view::npos)
                refuse("an unfinished [: :]");
            const std::string_view name = pattern.substr(i, close + 2 - i);
            if (name != "[:space:]" && !detail::is_common_class(name))
                refuse("the class " + std::string(name));
            out += name == "[:space:]" ? std::string_view(space) : name;
            i = close + 1;
            continue;
        }
        if (in_set && pattern.substr(i, 2) == "&&")
            refuse("&& between sets");
        out += c;
        if (!in_set && c == '[') {
            in_set = true;
            // A ']' that comes first stands for itself.
            if (i + 1 < pattern.size() && pattern[i + 1] == '^')
                out += pattern[++i];
            if (i + 1 < pattern.size() && pattern[i + 1] == ']')
                out += pattern[++i];
        } else if (in_set && c == ']') {
            in_set = false;
        }
    }
    return out;
}

} // namespace specdec::engine
