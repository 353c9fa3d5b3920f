// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <specdec/core/error.hpp>

namespace specdec::reference {

/// What \s means in patterns. Encoders differ in U+0085 and U+FEFF.
enum class white_space_rule {
    unicode,    ///< the property White_Space: Oniguruma and Rust, hence Hugging Face and tiktoken
    ecmascript, ///< the encoders in JavaScript: not U+0085, but U+FEFF
};

/// A pattern in the dialect of tokenizer.json (Oniguruma, Rust's regex) in PCRE2's:
///   \s \S   by the rule (PCRE2's own \s also takes U+180E)
///   \w \W   as UTS 18 has it (PCRE2 10.42's \w has no marks and one connector)
///   \uHHHH  \x{HHHH}
/// Errors: what the two read differently and has no counterpart: sets inside sets, && between sets,
/// \S or \W inside a set.
[[nodiscard]] inline std::string to_pcre2_syntax(std::string_view pattern, white_space_rule rule,
                                                 const std::string& source,
                                                 const std::string& field) {
    const std::string word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200C}\\x{200D}";
    const std::string space =
        rule == white_space_rule::unicode
            ? "\\p{White_Space}"
            : "\\t-\\r\\x{FEFF}\\p{Z}"; // Z: all spaces but the control characters
    const auto refuse = [&](const char* what) {
        throw error(source, field, std::string("expected a regular expression without ") + what);
    };
    std::string out;
    bool in_set = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\' && i + 1 < pattern.size()) {
            const char escaped = pattern[++i];
            switch (escaped) {
            case 's':
            case 'w': {
                const std::string& members = escaped == 's' ? space : word;
                out += in_set ? members : "[" + members + "]";
                break;
            }
            case 'S':
            case 'W':
                if (in_set)
                    refuse("\\S or \\W inside a set");
                out += "[^" + (escaped == 'S' ? space : word) + "]";
                break;
            case 'u':
                if (pattern.size() - i <= 4)
                    refuse("an unfinished \\u");
                out.append("\\x{").append(pattern.substr(i + 1, 4)).append("}");
                i += 4;
                break;
            default:
                (out += '\\') += escaped;
            }
            continue;
        }
        if (in_set && c == '[') {
            if (pattern.substr(i, 2) != "[:")
                refuse("a set inside a set");
            const std::size_t close = pattern.find(":]", i);
            if (close == std::string_view::npos)
                refuse("an unfinished [: :]");
            out += pattern.substr(i, close + 2 - i);
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

} // namespace specdec::reference
