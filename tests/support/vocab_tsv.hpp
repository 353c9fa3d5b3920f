// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <zlib.h>

#include "../../examples/support/text/vocab_tsv.hpp"
#include <specdec/core/error.hpp>

/// Reads ../shared/vocabularies/NAME.vocab.tsv.gz (its README describes the format) and other text,
/// gzipped or plain.
namespace specdec::test {

using examples::vocab_tsv;

/// The whole file, unpacked.
inline std::string read_text(const std::string& path) {
    const gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr)
        throw error(path, "file", "expected a readable file");
    std::string text;
    char block[1 << 16];
    int n = 0;
    while ((n = gzread(file, block, sizeof block)) > 0)
        text.append(block, static_cast<std::size_t>(n));
    const bool whole = gzclose(file) == Z_OK && n == 0;
    if (!whole)
        throw error(path, "gzip stream", "expected to be complete");
    return text;
}

inline vocab_tsv read_vocab_tsv(const std::string& path) {
    return examples::parse_vocab_tsv(read_text(path), path);
}

} // namespace specdec::test
