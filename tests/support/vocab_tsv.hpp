// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

#include <specdec/core/error.hpp>
#include <specdec/vocab/vocabulary.hpp>

/// Reads ../shared/vocabularies/NAME.vocab.tsv.gz (its README describes the format) and other gzipped
/// or plain text.
namespace specdec::test {

/// The whole file, unpacked.
inline std::string read_text(const std::string& path) {
    const gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) throw error(path, "file", "to be readable");
    std::string text;
    char block[1 << 16];
    int n = 0;
    while ((n = gzread(file, block, sizeof block)) > 0) text.append(block, static_cast<std::size_t>(n));
    const bool whole = n == 0 && gzclose(file) == Z_OK;
    if (!whole) throw error(path, "gzip stream", "to be complete");
    return text;
}

/// The bytes written as pairs of hexadecimal digits.
inline std::string from_hex(std::string_view hex) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
    return bytes;
}

/// The next field of a line, up to the separator.
inline std::string_view next_field(std::string_view& rest, char separator) {
    const std::size_t end = rest.find(separator);
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return field;
}

struct vocab_tsv {
    vocabulary table;
    bool sentencepiece = false;
    /// [size] smaller joins first (scores are negated to be so); the greatest int where no join makes
    /// the token.
    std::vector<std::int32_t> ranks;
};

inline vocab_tsv read_vocab_tsv(const std::string& path) {
    const std::string text = read_text(path);
    std::string_view rest = text;
    vocab_tsv result;
    double sign = 1;
    while (!rest.empty()) {
        std::string_view line = next_field(rest, '\n');
        if (line.starts_with("# ")) {
            if (line == "# family spm") result.sentencepiece = true;
            if (line == "# order score") sign = -1;
            continue;
        }
        const std::string_view id = next_field(line, '\t');
        const std::string_view kind = next_field(line, '\t');
        const std::string order(next_field(line, '\t'));
        const std::string bytes = from_hex(line);
        if (id != std::to_string(result.table.size())) throw error(path, "id", "ids without gaps");
        if (kind == "normal") result.table.add(bytes, token_kind::normal);
        else if (kind == "byte") result.table.add(bytes, token_kind::byte);
        else if (kind == "user") result.table.add(bytes, token_kind::user);
        else if (kind == "control") result.table.add(bytes, token_kind::control);
        else if (kind == "unused" || kind == "hole") result.table.add(bytes, token_kind::unused);
        else throw error(path, "kind", "normal, byte, user, control, unused or hole");
        result.ranks.push_back(order == "-" ? std::numeric_limits<std::int32_t>::max()
                                            : static_cast<std::int32_t>(sign * std::stod(order)));
    }
    return result;
}

} // namespace specdec::test
