// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace specdec::reference {

/// SentencePiece's sign for a space, U+2581.
inline constexpr std::string_view space_sign = "\xE2\x96\x81";

/// A piece with real spaces for the signs.
[[nodiscard]] inline std::string with_spaces(std::string_view piece) {
    std::string out;
    for (std::size_t at; (at = piece.find(space_sign)) != std::string_view::npos;
         piece.remove_prefix(at + space_sign.size()))
        out.append(piece.substr(0, at)).push_back(' ');
    return out.append(piece);
}

/// The byte that a name such as "<0x4F>" stands for.
[[nodiscard]] inline std::optional<char> byte_of_name(std::string_view name) {
    if (name.size() != 6 || !name.starts_with("<0x") || name[5] != '>')
        return std::nullopt;
    int value = 0;
    for (const char c : name.substr(3, 2)) {
        const bool digit = c >= '0' && c <= '9', letter = c >= 'A' && c <= 'F';
        if (!digit && !letter)
            return std::nullopt;
        value = value * 16 + (digit ? c - '0' : c - 'A' + 10);
    }
    return static_cast<char>(value);
}

} // namespace specdec::reference
