// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/coin.hpp>

namespace specdec {

/// The sum, in four chains of additions, which do not wait for each other.
[[nodiscard]] inline double chained_sum(std::span<const double> values) {
    double a = 0, b = 0, c = 0, d = 0;
    std::size_t j = 0;
    for (; j + 4 <= values.size(); j += 4) {
        a += values[j];
        b += values[j + 1];
        c += values[j + 2];
        d += values[j + 3];
    }
    for (; j < values.size(); ++j)
        a += values[j];
    return (a + b) + (c + d);
}

/// Which of `size` weights holds a point of their mass, for laws that are read in chunks:
/// fill(first, values) writes those from position `first` on. Never one without weight; for a
/// target that rounds to the whole mass the last one with some. Precondition: some have weight.
/// Complexity: one read, up to the position. Allocates nothing.
template <UnitNumber U, class Fill>
[[nodiscard]] std::size_t position_of(const U& target, std::size_t size, Fill&& fill) {
    constexpr std::size_t chunk = 256;
    double values[chunk];
    double before = 0, behind = 0; // the last chunk with weight
    std::size_t begin = 0;
    for (std::size_t first = 0; first < size; first += chunk) {
        const std::size_t n = size - first < chunk ? size - first : chunk;
        fill(first, std::span(values, n));
        const double next = behind + chained_sum({values, n});
        if (!(next > behind))
            continue;
        begin = first;
        before = behind;
        behind = next;
        if (target < behind)
            break;
    }
    const std::size_t n = size - begin < chunk ? size - begin : chunk;
    fill(begin, std::span(values, n));
    std::size_t last = begin;
    for (std::size_t j = 0; j < n; ++j) {
        if (!(values[j] > 0))
            continue;
        last = begin + j;
        before += values[j];
        if (target < before)
            break;
    }
    return last;
}

} // namespace specdec
