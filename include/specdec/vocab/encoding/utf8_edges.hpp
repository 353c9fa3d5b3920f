// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

/// Where characters begin and end in a piece of text that was cut at a byte. No decoding, no
/// validation of what lies between: only what is needed to cut and to join. O(1), no allocation.
namespace specdec {

/// Whether the byte is the second or a later one of a UTF-8 character.
[[nodiscard]] constexpr bool is_utf8_inner(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u;
}

/// Number of bytes at the front that belong to a character begun before the text: 0 to 3.
[[nodiscard]] constexpr std::size_t utf8_head(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() && n < 3 && is_utf8_inner(text[n]))
        ++n;
    return n;
}

/// Number of bytes at the end that begin a character without finishing it: 0 to 3.
[[nodiscard]] constexpr std::size_t utf8_tail(std::string_view text) {
    for (std::size_t n = 1; n <= 3 && n <= text.size(); ++n) {
        const auto lead = static_cast<unsigned char>(text[text.size() - n]);
        if ((lead & 0xc0u) == 0x80u)
            continue;
        const std::size_t whole = lead >= 0xf0u ? 4 : lead >= 0xe0u ? 3 : lead >= 0xc0u ? 2 : 1;
        return n < whole ? n : 0;
    }
    return 0;
}

/// Whether the text turns from something else to a space at byte i, 0 < i < text.size(). Hardly any
/// token of any tokenizer reaches across such a place.
[[nodiscard]] constexpr bool is_word_edge(std::string_view text, std::size_t i) {
    const char before = text[i - 1];
    return text[i] == ' ' && before != ' ' && before != '\n' && before != '\t' && before != '\r';
}

} // namespace specdec
