// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <zlib.h>

#include "../../examples/support/text/vocab_tsv.hpp"
#include <specdec/core/error.hpp>

/// The tables of tests/data/vocabularies, parts of real vocabularies, and those of
/// ../shared/vocabularies (its README describes the format), where the checkout has it; and their
/// other text, gzipped or plain.
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

inline const std::string vocabulary_folder = std::string(SPECDEC_SHARED_DIR) + "/vocabularies/";
inline bool has_vocabularies() {
    return std::filesystem::exists(vocabulary_folder);
}
/// A file of the repository's own, or else of the shared ones.
inline std::string vocabulary_file(const std::string& name) {
    const std::string own = std::string(SPECDEC_SOURCE_DIR) + "/tests/data/vocabularies/" + name;
    return std::filesystem::exists(own) ? own : vocabulary_folder + name;
}
inline vocab_tsv read_vocab_tsv(const std::string& name) {
    const std::string path = vocabulary_file(name + ".vocab.tsv.gz");
    return examples::parse_vocab_tsv(read_text(path), path);
}
inline vocabulary read_vocabulary(const std::string& name) {
    return read_vocab_tsv(name).table;
}

} // namespace specdec::test
