// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <specdec/speculation/any/any_ngram_cache.hpp>
#include <specdec/vocab/table/atomic_file.hpp>

/// The file of an n-gram cache, apart from the cache: programs that include decoder.hpp read and
/// write no files.
namespace specdec {

/// What the settings' file holds, or an empty cache. Errors: specdec::error for a policy that there
/// is not, and for a file that is none, is of another pair or cannot be replaced, before anything
/// is learnt that could not be kept.
[[nodiscard]] inline any_ngram_cache open_ngram_cache(const cache_settings& settings,
                                                      std::uint64_t draft_fingerprint,
                                                      std::uint64_t target_fingerprint) {
    validate(settings);
    if (settings.file.empty())
        return {settings, draft_fingerprint, target_fingerprint};
    if (!is_there(settings.file)) {
        expect_replaceable(settings.file);
        return {settings, draft_fingerprint, target_fingerprint};
    }
    const std::string saved = read_file(settings.file);
    any_ngram_cache cache(settings, draft_fingerprint, target_fingerprint, saved);
    expect_replaceable(settings.file);
    return cache;
}

/// Writes the cache to its file, if it has one. Errors: specdec::error where it cannot be written.
inline void save(const any_ngram_cache& cache) {
    if (!cache.file().empty())
        replace_file(cache.file(), cache.bytes());
}

} // namespace specdec
