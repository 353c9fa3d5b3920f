// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

/// A vocabulary as a plain table, one line an id: id, kind, order, bytes in hexadecimal, separated
/// by tabs; header lines begin with "# ". For comparing vocabularies whose tokenizer is not at
/// hand.
namespace specdec::examples {

struct vocab_tsv {
    static constexpr std::string_view first_line = "# vocabulary-tsv 1";

    vocabulary table;
    bool sentencepiece = false;
    /// [size] the smaller joins first (scores are negated to be so); the greatest int where no join
    /// makes the token.
    std::vector<std::int32_t> ranks;
};

namespace detail {

/// The next field of a line, up to the separator.
inline std::string_view next_field(std::string_view& rest, char separator) {
    const std::size_t end = rest.find(separator);
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return field;
}

/// The bytes written as pairs of hexadecimal digits; false where they are not.
inline bool from_hex(std::string_view hex, std::string& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    bytes.clear();
    if (hex.size() % 2 != 0)
        return false;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        const std::size_t high = digits.find(hex[i]), low = digits.find(hex[i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos)
            return false;
        bytes += static_cast<char>(high * 16 + low);
    }
    return true;
}

/// "-" or a whole number of at most ten digits; false for anything else.
inline bool read_rank(std::string_view order, bool is_score, std::int32_t& rank) {
    rank = std::numeric_limits<std::int32_t>::max();
    if (order == "-")
        return true;
    const bool negative = order.starts_with('-');
    if (negative)
        order.remove_prefix(1);
    if (order.empty() || order.size() > 10)
        return false;
    std::int64_t value = 0;
    for (const char c : order) {
        if (c < '0' || c > '9')
            return false;
        value = 10 * value + (c - '0');
    }
    if (value >= rank)
        return false;
    rank = static_cast<std::int32_t>(negative == is_score ? value : -value);
    return true;
}

} // namespace detail

/// Errors: specdec::error with the source and the line.
inline vocab_tsv parse_vocab_tsv(std::string_view text, const std::string& source) {
    constexpr std::pair<std::string_view, token_kind> kinds[] = {
        {"normal", token_kind::normal}, {"byte", token_kind::byte},
        {"user", token_kind::user},     {"control", token_kind::control},
        {"unused", token_kind::unused}, {"hole", token_kind::unused}};
    if (!text.starts_with(vocab_tsv::first_line))
        throw error(source, "line 1", "expected \"" + std::string(vocab_tsv::first_line) + '"');
    vocab_tsv result;
    bool is_score = false;
    std::string bytes;
    for (std::size_t number = 1; !text.empty(); ++number) {
        std::string_view line = detail::next_field(text, '\n');
        const auto expect = [&](bool good, const char* what) {
            if (!good)
                throw error(source, "line " + std::to_string(number), what);
        };
        if (line.starts_with("# ")) {
            if (line == "# family spm")
                result.sentencepiece = true;
            if (line == "# order score")
                is_score = true;
            continue;
        }
        expect(detail::next_field(line, '\t') == std::to_string(result.table.size()),
               "expected ids from 0 without gaps");
        const std::string_view kind_name = detail::next_field(line, '\t');
        std::int32_t rank = 0;
        expect(detail::read_rank(detail::next_field(line, '\t'), is_score, rank),
               "expected a whole number or - as order");
        expect(detail::from_hex(line, bytes), "expected bytes in lower-case hexadecimal");
        const token_kind* kind = nullptr;
        for (const auto& [name, value] : kinds)
            if (name == kind_name)
                kind = &value;
        expect(kind != nullptr, "expected kind normal, byte, user, control, unused or hole");
        expect(*kind != token_kind::byte || bytes.size() == 1,
               "expected one byte for a byte token");
        result.table.add(bytes, *kind);
        result.ranks.push_back(rank);
    }
    return result;
}

} // namespace specdec::examples
