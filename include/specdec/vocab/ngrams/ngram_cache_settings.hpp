// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace specdec {

struct ngram_cache_settings {
    static constexpr std::size_t unlimited = 0xfffffffeu;

    std::size_t capacity = unlimited; ///< n-grams
    std::size_t longest = 16;         ///< tokens of an n-gram: 2 to ngram_trie::longest
    /// Of the vocabularies whose ids the cache holds (vocabulary::fingerprint). They are checked
    /// when a cache is loaded.
    std::uint64_t draft_fingerprint = 0;
    std::uint64_t target_fingerprint = 0;
};

/// What has happened since the cache was made or cleared.
struct ngram_cache_counts {
    std::uint64_t hits = 0;      ///< uses: merged tokens that the target accepted
    std::uint64_t inserts = 0;   ///< n-grams learned
    std::uint64_t evictions = 0; ///< n-grams that went for another
    std::uint64_t tokens = 0;    ///< tokens processed while learning, as told
};

/// A count that an assignment does not take over but adds to: the object it belongs to changes, and
/// never says a number again that it has said.
struct ngram_cache_changes {
    std::uint64_t count = 0;

    ngram_cache_changes() = default;
    ngram_cache_changes(const ngram_cache_changes& other) noexcept = default;
    ngram_cache_changes& operator=(const ngram_cache_changes&) noexcept {
        ++count;
        return *this;
    }
};

} // namespace specdec
