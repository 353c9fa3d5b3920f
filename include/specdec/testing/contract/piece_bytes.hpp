// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <specdec/core/concepts.hpp>
#include <specdec/testing/contract/contract_report.hpp>

namespace specdec {

/// Bytes between double quotes, for messages: what is not ASCII as \xHH; at most 80 bytes.
[[nodiscard]] inline std::string printable(std::string_view bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text = "\"";
    for (const char c : bytes.substr(0, 80)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f)
            text += c;
        else
            text.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    return text + (bytes.size() > 80 ? "\"..." : "\"");
}

/// Throws clause_broken where the bytes of a vocabulary are what a display shows instead of what a
/// text holds:
///
///     two tokens are U+FFFD      pieces of characters were replaced one by one
///     two tokens are <0xHH>      byte tokens show their names
///     no token begins with a space, but one with U+2581 (SentencePiece) or U+0120 (byte-level BPE)
///
/// A single one of the first two may be a real token, and so may one with a sign among others with
/// spaces.
template <class Id, TokenizerOf<Id> Tokenizer>
void require_piece_bytes(const Tokenizer& tokenizer) {
    const std::size_t size = tokenizer.vocabulary_size();
    std::size_t replaced = size, named = size, sign = size;
    bool spaces = false;
    const auto second = [&](std::size_t& first, std::size_t i) {
        if (first < size)
            throw clause_broken{"bytes of ids " + std::to_string(first) + " and " +
                                std::to_string(i) + " are " +
                                printable(tokenizer.bytes(id_at<Id>(first))) + " and " +
                                printable(tokenizer.bytes(id_at<Id>(i)))};
        first = i;
    };
    for (std::size_t i = 0; i < size; ++i) {
        const std::string_view bytes = tokenizer.bytes(id_at<Id>(i));
        spaces = spaces || bytes.starts_with(' ');
        if (bytes == "\xef\xbf\xbd")
            second(replaced, i);
        if (bytes.size() == 6 && bytes.starts_with("<0x") && bytes.ends_with('>'))
            second(named, i);
        if (sign == size && (bytes.starts_with("\xe2\x96\x81") || bytes.starts_with("\xc4\xa0")))
            sign = i;
    }
    if (sign < size && !spaces)
        throw clause_broken{"bytes of id " + std::to_string(sign) + " are " +
                            printable(tokenizer.bytes(id_at<Id>(sign))) +
                            ", and no token begins with a space"};
}

} // namespace specdec
