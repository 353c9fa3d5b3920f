// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <specdec_engine/tokenizer/utf8.hpp>

namespace specdec::engine {

/// GPT-2's way to write bytes as printable characters: the 188 printable Latin-1 bytes stand for
/// themselves, the other 68 for U+0100, U+0101, ... in ascending order (so ' ' is U+0120).
[[nodiscard]] constexpr std::array<char32_t, 256> byte_level_characters() {
    std::array<char32_t, 256> map{};
    char32_t next = 0x100;
    for (std::uint32_t b = 0; b < 256; ++b) {
        const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        map[b] = printable ? static_cast<char32_t>(b) : next++;
    }
    return map;
}

/// The character of the byte ' ', U+0120.
inline constexpr std::string_view byte_level_space = "\xC4\xA0";

/// The bytes that such a string stands for; nothing where a character is none of the 256.
[[nodiscard]] inline std::optional<std::string> byte_level_decode(std::string_view display) {
    static constexpr auto bytes = [] {
        std::array<std::int16_t, 0x144> map{};
        map.fill(-1);
        constexpr auto characters = byte_level_characters();
        for (std::size_t b = 0; b < 256; ++b)
            map[characters[b]] = static_cast<std::int16_t>(b);
        return map;
    }();
    std::string out;
    out.reserve(display.size());
    for (std::size_t i = 0; i < display.size();) {
        const code_point c = decode_utf8(display, i);
        if (c.bytes == 0 || c.value >= bytes.size() || bytes[c.value] < 0)
            return std::nullopt;
        out.push_back(static_cast<char>(bytes[c.value]));
        i += c.bytes;
    }
    return out;
}

} // namespace specdec::engine
