// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h> // _mm512_dpbf16_ps
#endif

#include <specdec_engine/kernel/fetch_ahead.hpp>
#include <specdec_engine/kernel/fused.hpp>
#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/numbers.hpp>

/// The kernel of F32 and BF16: a panel of 32 matrix rows times 1 to 6 columns.
///
/// A panel stores its 32 rows interleaved, so that the kernel reads it as one stream whatever the
/// number of columns (rows walked in place cost 2.4 reads: no prefetcher follows 32 of them):
///
///     float      panel[k * 32 + row]
///     bf16_bits  panel[(k / 2) * 64 + row * 2 + k % 2]       two neighbours share 32 bits
///
/// One vector register holds one k (or pair) of several rows, so no sum runs across a register.
/// Each (row, column) sum runs in one order (even k and odd k apart where registers are plenty),
/// whatever the number of columns: results do not depend on the grouping of columns.
/// bf16_bits columns are rounded already; products are exact, sums are in F32.
namespace specdec::engine {

inline constexpr std::size_t panel_rows = 32;
/// Columns one call handles: with two sums each that fills the 32 registers of AVX-512.
inline constexpr std::size_t tile_columns = 6;
/// Rows' lengths are padded with zeros to a multiple of this.
inline constexpr std::size_t length_multiple = 4;

template <class Value>
concept PanelValue = std::same_as<Value, float> || std::same_as<Value, bf16_bits>;

/// y[c][row] = sum over k of panel(row, k) x[c][k]; y is [columns][32], x has `stride` values a
/// column. `goes_on`: y is [columns][2][32] instead, what the sums of a row and column have come to
/// (two of them, or one and zero), and these go on: pieces of a panel whose lengths are multiples
/// of length_multiple give what the whole one gives, bit for bit.
template <PanelValue Value>
using panel_kernel = void (*)(const Value* panel, std::size_t length, const Value* x,
                              std::size_t stride, float* y, fetch_ahead ahead, bool goes_on);

/// The kernels of one instruction set, by number of columns less one; `by_tiles` multiplies whole
/// panels by up to 16 columns in place of the others, and is null where there are no tiles.
template <PanelValue Value>
struct panel_kernels {
    std::array<panel_kernel<Value>, tile_columns> by_columns;
    std::string_view name; ///< for statistics
    /// Columns up to which a call that is alone with its panel fetches the next panel, whole.
    std::size_t fetching_alone = 0;
    void (*by_tiles)(const Value* panel, std::size_t length, const Value* x, std::size_t stride,
                     std::size_t columns, float* y) = nullptr;
};

namespace detail {

#if defined(__clang__)
#define SPECDEC_UNROLL _Pragma("unroll")
#else
// GCC keeps an array of vectors in registers only where the loops over it are unrolled.
#define SPECDEC_UNROLL _Pragma("GCC unroll 24")
#endif

/// A little-endian pair of BF16 in one 32-bit word: value k in the low half.
inline std::uint32_t pair_at(const bf16_bits* x) {
    std::uint32_t pair;
    std::memcpy(&pair, x, sizeof pair);
    return pair;
}

/// The body of all kernels but vdpbf16ps, for vectors of `Lanes` floats and `Sums` (1, 2) sums a
/// row and column. Inlined into a function compiled for the instruction set.
///
/// Where the registers do not hold all rows of a panel it is read a piece at a time, some rows
/// after the others, which meanwhile fetch the piece behind it: one stream, and memory never rests.
template <class Value, std::size_t Lanes, std::size_t Sums, std::size_t Columns>
[[gnu::always_inline]] inline void multiply_panel(const Value* panel, std::size_t length,
                                                  const Value* x, std::size_t stride, float* y,
                                                  fetch_ahead ahead, bool goes_on) {
    using floats [[gnu::vector_size(Lanes * sizeof(float))]] = float;
    using words [[gnu::vector_size(Lanes * sizeof(float))]] = std::uint32_t;
    constexpr bool narrow = std::same_as<Value, bf16_bits>;
    constexpr std::size_t all = panel_rows / Lanes;
    constexpr std::size_t held = Lanes == 16 || Columns == 1 ? all : (Columns == 2 ? 4 : 2);
    constexpr std::size_t piece = Columns == 1 ? ~std::size_t{0} : 192;
    float sums[Sums][Columns][panel_rows] = {};
    for (std::size_t i = 0; goes_on && i < Sums * Columns; ++i)
        std::memcpy(sums[i % Sums][i / Sums], y + (i / Sums * 2 + i % Sums) * panel_rows,
                    sizeof sums[0][0]);
    float wide[Columns][Columns == 1 ? 1 : piece]; // of x: widened once for all rows
    for (std::size_t begin = 0; begin < length; begin += piece) {
        const std::size_t n = length - begin < piece ? length - begin : piece;
        if constexpr (Columns > 1)
            for (std::size_t c = 0; c < Columns; ++c)
                for (std::size_t k = 0; k < n; ++k)
                    wide[c][k] = widen(x[c * stride + begin + k]);
        const auto* behind = reinterpret_cast<const char*>(panel + (begin + n) * panel_rows);
        for (std::size_t first = 0; first < all; first += held) {
            floats sum[held][Sums][Columns];
            for (std::size_t s = 0; s < Sums; ++s)
                for (std::size_t c = 0; c < Columns; ++c)
                    for (std::size_t r = 0; r < held; ++r)
                        std::memcpy(&sum[r][s][c], &sums[s][c][(first + r) * Lanes],
                                    sizeof(floats));
            for (std::size_t k = 0; k < n; k += 2) {
                const Value* const at = panel + (begin + k) * panel_rows;
                for (int line = 0; line < (narrow ? 1 : 2); ++line) {
                    ahead.line();
                    if constexpr (held < all)
                        __builtin_prefetch(behind + std::ptrdiff_t{line} * 64, 0, 2);
                }
                behind += narrow ? 64 : 128;
                // Two k: of BF16 both at once. All even ones first: so few registers are live that
                // none goes to memory.
                words pair[held];
                SPECDEC_UNROLL
                for (std::size_t r = 0; r < held; ++r)
                    std::memcpy(&pair[r], at + (first + r) * Lanes * (narrow ? 2 : 1),
                                sizeof pair[r]);
                SPECDEC_UNROLL
                for (std::size_t odd = 0; odd < 2; ++odd) {
                    floats w[held];
                    SPECDEC_UNROLL
                    for (std::size_t r = 0; r < held; ++r)
                        if constexpr (narrow)
                            w[r] = reinterpret_cast<floats>(odd == 0 ? pair[r] << 16
                                                                     : pair[r] & 0xFFFF0000U);
                        else
                            std::memcpy(&w[r], at + odd * panel_rows + (first + r) * Lanes,
                                        sizeof w[r]);
                    SPECDEC_UNROLL
                    for (std::size_t c = 0; c < Columns; ++c) {
                        const float one = Columns == 1 ? widen(x[k + odd]) : wide[c][k + odd];
                        const floats value = one - floats{}; // in all lanes
                        SPECDEC_UNROLL
                        for (std::size_t r = 0; r < held; ++r)
                            add_product(sum[r][odd * (Sums - 1)][c], w[r], value);
                    }
                }
            }
            for (std::size_t s = 0; s < Sums; ++s)
                for (std::size_t c = 0; c < Columns; ++c)
                    for (std::size_t r = 0; r < held; ++r)
                        std::memcpy(&sums[s][c][(first + r) * Lanes], &sum[r][s][c],
                                    sizeof(floats));
        }
    }
    for (std::size_t i = 0; goes_on && i < Sums * Columns; ++i)
        std::memcpy(y + (i / Sums * 2 + i % Sums) * panel_rows, sums[i % Sums][i / Sums],
                    sizeof sums[0][0]);
    if (goes_on)
        return;
    for (std::size_t c = 0; c < Columns; ++c)
        for (std::size_t row = 0; row < panel_rows; ++row)
            y[c * panel_rows + row] = sums[0][c][row] + (Sums == 2 ? sums[Sums - 1][c][row] : 0.0F);
}

template <class Value, std::size_t Columns>
void multiply_portable(const Value* panel, std::size_t length, const Value* x, std::size_t stride,
                       float* y, fetch_ahead ahead, bool goes_on) {
    multiply_panel<Value, 4, 1, Columns>(panel, length, x, stride, y, ahead, goes_on);
}

#if defined(__x86_64__)
template <class Value, std::size_t Columns>
[[gnu::target("avx2,fma")]] void multiply_avx2(const Value* panel, std::size_t length,
                                               const Value* x, std::size_t stride, float* y,
                                               fetch_ahead ahead, bool goes_on) {
    multiply_panel<Value, 8, 1, Columns>(panel, length, x, stride, y, ahead, goes_on);
}

template <class Value, std::size_t Columns>
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]] void
multiply_avx512(const Value* panel, std::size_t length, const Value* x, std::size_t stride,
                float* y, fetch_ahead ahead, bool goes_on) {
    multiply_panel<Value, 16, 2, Columns>(panel, length, x, stride, y, ahead, goes_on);
}

template <class, std::size_t Columns>
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]] void
multiply_avx512_bf16(const bf16_bits* panel, std::size_t length, const bf16_bits* x,
                     std::size_t stride, float* y, fetch_ahead ahead, bool goes_on) {
    __m512 sum[Columns][2][2]; // [column][pair even or odd][upper or lower 16 rows]
    SPECDEC_UNROLL
    for (std::size_t i = 0; i < 4 * Columns; ++i)
        sum[i / 4][i / 2 % 2][i % 2] = goes_on ? _mm512_loadu_ps(y + 16 * i) : _mm512_setzero_ps();
    for (std::size_t k = 0; k < length; k += 4) {
        SPECDEC_UNROLL
        for (std::size_t s = 0; s < 2; ++s) {
            ahead.line();
            const bf16_bits* w = panel + (k + 2 * s) * panel_rows;
            const auto upper = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w));
            const auto lower = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w + panel_rows));
            SPECDEC_UNROLL
            for (std::size_t c = 0; c < Columns; ++c) {
                __m512i pair =
                    _mm512_set1_epi32(static_cast<int>(pair_at(x + c * stride + k + 2 * s)));
#if defined(__clang__)
                // clang 16's VectorCombine crashes on this broadcast seen as BF16: hide it.
                asm("" : "+v"(pair));
#endif
                const auto both = reinterpret_cast<__m512bh>(pair);
                sum[c][s][0] = _mm512_dpbf16_ps(sum[c][s][0], upper, both);
                sum[c][s][1] = _mm512_dpbf16_ps(sum[c][s][1], lower, both);
            }
        }
    }
    if (goes_on) {
        SPECDEC_UNROLL
        for (std::size_t i = 0; i < 4 * Columns; ++i)
            _mm512_storeu_ps(y + 16 * i, sum[i / 4][i / 2 % 2][i % 2]);
        return;
    }
    SPECDEC_UNROLL
    for (std::size_t i = 0; i < 2 * Columns; ++i)
        _mm512_storeu_ps(y + 16 * i, _mm512_add_ps(sum[i / 2][0][i % 2], sum[i / 2][1][i % 2]));
}
#endif

} // namespace detail

} // namespace specdec::engine
