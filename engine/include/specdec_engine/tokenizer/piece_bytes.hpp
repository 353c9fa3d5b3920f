// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace specdec::engine {

/// SentencePiece's sign for a space, U+2581.
inline constexpr std::string_view space_sign = "\xE2\x96\x81";

/// A text with `with` wherever it has `what`.
[[nodiscard]] inline std::string replaced(std::string_view text, std::string_view what,
                                          std::string_view with) {
    std::string out;
    for (std::size_t at; (at = text.find(what)) != std::string_view::npos;
         text.remove_prefix(at + what.size()))
        out.append(text.substr(0, at)).append(with);
    return out.append(text);
}
/// A piece with real spaces for the signs, and a text with signs for the spaces.
[[nodiscard]] inline std::string with_spaces(std::string_view piece) {
    return replaced(piece, space_sign, " ");
}
[[nodiscard]] inline std::string with_signs(std::string_view text) {
    return replaced(text, " ", space_sign);
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

} // namespace specdec::engine
