// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <specdec/vocab/ngrams/ngram_cache.hpp>
#include <specdec/vocab/ngrams/ngram_cache_bytes.hpp>
#include <specdec/vocab/table/atomic_file.hpp>

/// An n-gram cache on disk, so that what was learned of a pair of vocabularies outlives the
/// process.
namespace specdec {

/// Saves the cache; what was at the path is replaced by a whole new file or stays as it was
/// (atomic_file.hpp). Errors: specdec::error where the file cannot be written, std::bad_alloc.
template <class Eviction>
void save_ngram_cache(const ngram_cache<Eviction>& cache, const std::string& path) {
    replace_file(path, ngram_cache_codec::write(cache));
}

/// The saved cache: it behaves as the one that was saved (order of eviction, frequencies, counts,
/// walks), and its capacity and longest are that one's (set_capacity() changes the first). Of
/// `expected` only the fingerprints are read.
/// Errors: specdec::error(path, FIELD, EXPECTED) for a file that is missing, torn, corrupt,
/// outdated (version), of another eviction policy or foreign (fingerprints). The file stays.
template <class Eviction = lru>
[[nodiscard]] ngram_cache<Eviction> load_ngram_cache(const std::string& path,
                                                     const ngram_cache_settings& expected) {
    return ngram_cache_codec::read<Eviction>(read_file(path), path, expected);
}

} // namespace specdec
