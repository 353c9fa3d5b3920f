// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/coin.hpp>

namespace specdec {

/// Which block of a law holds a point of its mass: ends[b] is the mass of the blocks up to and with
/// b, so it is the first whose end is above `target`. For a target that rounds to the whole mass
/// the last block with some. Pre: ends is not empty, and ascends. O(blocks).
template <UnitNumber U>
[[nodiscard]] std::size_t block_of(const U& target, std::span<const double> ends) {
    std::size_t b = 0;
    while (b + 1 < ends.size() && !(target < ends[b]))
        ++b;
    while (b > 0 && !(ends[b] > ends[b - 1]))
        --b;
    return b;
}

} // namespace specdec
