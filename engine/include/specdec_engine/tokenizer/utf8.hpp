// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <string>
#include <string_view>

namespace specdec::engine {

/// A code point of a text and how many bytes it takes; 0 bytes where the text is not valid UTF-8.
struct code_point {
    char32_t value = 0;
    std::size_t bytes = 0;
};

/// The code point that begins at text[i]: shortest form, no surrogates, at most U+10FFFF (the form
/// that PCRE2 and utf8proc demand). Precondition: i < text.size().
[[nodiscard]] inline code_point decode_utf8(std::string_view text, std::size_t i) {
    const auto byte = [text](std::size_t at) -> std::uint32_t {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const auto tail = [&byte, i](std::size_t k) { return (byte(i + k) & 0xC0u) == 0x80u; };
    const std::uint32_t lead = byte(i);
    if (lead < 0x80)
        return {lead, 1};
    std::uint32_t value = 0;
    if (lead >= 0xC2 && lead < 0xE0 && tail(1))
        return {(lead & 0x1Fu) << 6 | (byte(i + 1) & 0x3Fu), 2};
    if (lead >= 0xE0 && lead < 0xF0 && tail(1) && tail(2)) {
        value = (lead & 0x0Fu) << 12 | (byte(i + 1) & 0x3Fu) << 6 | (byte(i + 2) & 0x3Fu);
        if (value >= 0x800 && (value < 0xD800 || value > 0xDFFF))
            return {value, 3};
    }
    if (lead >= 0xF0 && lead < 0xF5 && tail(1) && tail(2) && tail(3)) {
        value = (lead & 0x07u) << 18 | (byte(i + 1) & 0x3Fu) << 12 | (byte(i + 2) & 0x3Fu) << 6 |
                (byte(i + 3) & 0x3Fu);
        if (value >= 0x10000 && value <= 0x10FFFF)
            return {value, 4};
    }
    return {};
}

/// Appends a code point as UTF-8. Precondition: at most U+10FFFF.
inline void append_utf8(std::string& out, char32_t value) {
    const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    const auto v = static_cast<std::uint32_t>(value);
    if (v < 0x80) {
        put(v);
    } else if (v < 0x800) {
        put(0xC0u | v >> 6);
        put(0x80u | (v & 0x3Fu));
    } else if (v < 0x10000) {
        put(0xE0u | v >> 12);
        put(0x80u | (v >> 6 & 0x3Fu));
        put(0x80u | (v & 0x3Fu));
    } else {
        put(0xF0u | v >> 18);
        put(0x80u | (v >> 12 & 0x3Fu));
        put(0x80u | (v >> 6 & 0x3Fu));
        put(0x80u | (v & 0x3Fu));
    }
}

/// Position of the first byte from i on that is not ASCII; text.size() where there is none.
[[nodiscard]] inline std::size_t skip_ascii(std::string_view text, std::size_t i) {
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, 8);
        if ((word & 0x8080808080808080u) != 0)
            break;
    }
    while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80)
        ++i;
    return i;
}

/// Cuts a text into the longest spans that are valid UTF-8 and those that are not, in order:
/// valid(begin, end), invalid(begin, end). Nothing is called for an empty text.
template <class Valid, class Invalid>
void for_each_utf8_span(std::string_view text, Valid&& valid, Invalid&& invalid) {
    std::size_t i = 0;
    while (i < text.size()) {
        const std::size_t begin = i;
        while (i < text.size()) {
            i = skip_ascii(text, i);
            if (i == text.size())
                break;
            const std::size_t bytes = decode_utf8(text, i).bytes;
            if (bytes == 0)
                break;
            i += bytes;
        }
        if (i > begin)
            valid(begin, i);
        const std::size_t broken = i;
        while (i < text.size() && decode_utf8(text, i).bytes == 0)
            ++i;
        if (i > broken)
            invalid(broken, i);
    }
}

} // namespace specdec::engine
