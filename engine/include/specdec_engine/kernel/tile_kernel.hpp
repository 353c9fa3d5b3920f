// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <specdec_engine/kernel/numbers.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp> // panel_rows
#include <specdec_engine/kernel/tiles.hpp>

/// Kernels that multiply by tiles (tiles.hpp), for any unit: positions are the rows of a tile,
/// rows of the matrix the columns, so a panel in its usual order is what a tile is loaded from, and
/// 16 positions cost what one does. A (row, position) sum runs in one order whatever the number of
/// positions.
namespace specdec::engine {

/// Positions of a call.
inline constexpr std::size_t tile_positions = 16;

namespace detail {

/// What a tile of 32 k, or less, adds to both halves of a panel's rows.
template <std::size_t A, class Unit>
[[gnu::always_inline]] inline void add_tiles(Unit& unit, const bf16_bits* panel, const bf16_bits* x,
                                             std::size_t stride) {
    constexpr std::size_t line = 2 * panel_rows * sizeof(bf16_bits); // a pair of k of all rows
    unit.template load<A>(x, stride * sizeof(bf16_bits));
    unit.template load<A + 1>(panel, line);
    unit.template dot_bf16<0, A, A + 1>();
    unit.template load<A + 2>(panel + panel_rows, line);
    unit.template dot_bf16<1, A, A + 2>();
}

/// y[position][32] = a BF16 panel times up to 16 columns. `length` is even.
template <class Unit>
void multiply_by_tiles(const bf16_bits* panel, std::size_t length, const bf16_bits* x,
                       std::size_t stride, std::size_t columns, float* y) {
    constexpr std::size_t whole = 32; // k of a tile
    const auto rows = static_cast<std::uint8_t>(columns);
    const auto left = static_cast<std::uint8_t>(length % whole);
    const tile_shape sums{rows, 64}, weights{whole / 2, 64};
    const tile_shape rest{static_cast<std::uint8_t>(left / 2),
                          static_cast<std::uint16_t>(left > 0 ? 64 : 0)};
    Unit unit;
    const tile_shape rest_of_x{left > 0 ? rows : std::uint8_t{0},
                               static_cast<std::uint16_t>(2 * left)};
    unit.configure({sums, sums, sums, weights, weights, rest_of_x, rest, rest});
    for (std::size_t k = 0; k + whole <= length; k += whole)
        add_tiles<2>(unit, panel + k * panel_rows, x + k, stride);
    if (left > 0)
        add_tiles<5>(unit, panel + (length - left) * panel_rows, x + length - left, stride);
    unit.template store<0>(y, panel_rows * sizeof(float));
    unit.template store<1>(y + panel_rows / 2, panel_rows * sizeof(float));
}

} // namespace detail
} // namespace specdec::engine
