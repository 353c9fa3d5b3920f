// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit> // std::bit_width
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/token_id.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>

/// The figures of OmniDraft, appendix D, from a cache. No allocation.
namespace specdec {

/// Fig. 7 (section D.1): element k is the number of n-grams that were inserted or used 2^k to
/// 2^(k+1) - 1 times. Complexity: linear in the cache.
template <class Eviction>
[[nodiscard]] std::array<std::size_t, 32> frequency_histogram(const ngram_cache<Eviction>& cache) {
    std::array<std::size_t, 32> histogram{};
    cache.for_each([&](std::span<const draft_id>, target_id, std::uint32_t frequency) {
        ++histogram[static_cast<std::size_t>(std::bit_width(frequency)) - 1];
    });
    return histogram;
}

/// Fig. 9 (section D.4): n-grams held a token processed (count_tokens); 0 before any.
template <class Eviction>
[[nodiscard]] double growth_rate(const ngram_cache<Eviction>& cache) {
    const std::uint64_t tokens = cache.counts().tokens;
    return tokens == 0 ? 0 : static_cast<double>(cache.size()) / static_cast<double>(tokens);
}

} // namespace specdec
