// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::fill_n
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy

#include <specdec_engine/kernel/panel_kernel.hpp> // panel_rows
#include <specdec_engine/kernel/quantised_column.hpp>
#include <specdec_engine/kernel/quantised_panels.hpp>
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

/// The quantised kernel of quantised_kernel.hpp: of a block the tiles give the sums of whole
/// numbers, which are exact, and the rest is computed as all of its kernels do, so their results
/// are those of this one, bit for bit.
template <class Unit, dtype Type, std::size_t Lanes>
[[gnu::always_inline]] inline void
multiply_quantised_by_tiles(const std::byte* panel, std::size_t blocks, const q8_block* x,
                            std::size_t stride, std::size_t columns, float* y) {
    using bytes [[gnu::vector_size(4 * Lanes)]] = std::uint8_t;
    constexpr quantised_block_layout layout(Type);
    constexpr std::size_t line = 4 * panel_rows; // four k of all rows
    const auto rows = static_cast<std::uint8_t>(columns);
    Unit unit;
    const tile_shape sums{rows, 64}, weights{8, 64};
    unit.configure({sums, sums, tile_shape{rows, 32}, weights, weights});
    std::fill_n(y, columns * panel_rows, 0.0F);
    for (std::size_t b = 0; b < blocks; ++b, panel += layout.bytes) {
        alignas(64) std::byte unpacked[8 * line];
        const std::byte* numbers = panel + layout.numbers;
        if constexpr (Type != dtype::q8_0) {
            for (std::size_t i = 0; i < 4 * line; i += sizeof(bytes)) {
                bytes both;
                std::memcpy(&both, numbers + i, sizeof both);
                const bytes low = both & 15, high = both >> 4;
                std::memcpy(unpacked + i, &low, sizeof low);
                std::memcpy(unpacked + 4 * line + i, &high, sizeof high);
            }
            numbers = unpacked;
        }
        alignas(64) float scale[panel_rows], minimum[panel_rows];
        for (std::size_t r = 0; r < panel_rows; r += 4) {
            widen_halves(panel + 2 * r, scale + r);
            if constexpr (Type == dtype::q4_1)
                widen_halves(panel + layout.minima + 2 * r, minimum + r);
        }
        alignas(64) std::int32_t dots[tile_positions * panel_rows];
        unit.template zero<0>();
        unit.template zero<1>();
        unit.template load<2>(x[b].values, stride * sizeof(q8_block));
        unit.template load<3>(numbers, line);
        unit.template dot_bytes<0, 2, 3>();
        unit.template load<4>(numbers + line / 2, line);
        unit.template dot_bytes<1, 2, 4>();
        unit.template store<0>(dots, panel_rows * sizeof(std::int32_t));
        unit.template store<1>(dots + panel_rows / 2, panel_rows * sizeof(std::int32_t));
        for (std::size_t c = 0; c < columns; ++c) {
            const q8_block& at = x[c * stride + b];
            add_block<Type == dtype::q4_1, Lanes>(dots + c * panel_rows,
                                                  quantised_offset(Type) * at.sum, scale, minimum,
                                                  at, y + c * panel_rows);
        }
    }
}

#if defined(__x86_64__)
template <dtype Type>
[[gnu::target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]] void
multiply_quantised_amx(const std::byte* panel, std::size_t blocks, const q8_block* x,
                       std::size_t stride, std::size_t columns, float* y) {
    multiply_quantised_by_tiles<hardware_tiles, Type, 16>(panel, blocks, x, stride, columns, y);
}
#endif

} // namespace detail
} // namespace specdec::engine
