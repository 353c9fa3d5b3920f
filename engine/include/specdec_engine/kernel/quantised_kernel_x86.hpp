// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy

#include <immintrin.h>

#include <specdec_engine/kernel/panel_kernel.hpp> // panel_rows, SPECDEC_UNROLL
#include <specdec_engine/kernel/quantised_column.hpp>
#include <specdec_engine/kernel/quantised_panels.hpp>

/// The kernels of quantised_kernel.hpp for x86. Of a block all weights of some rows are unpacked
/// into registers, where they stay for all columns.
namespace specdec::engine::detail {

inline int four_at(const q8_block& x, std::size_t i) {
    int four;
    std::memcpy(&four, x.values + 4 * i, sizeof four);
    return four;
}

/// Fetches the block that lies 8 KB further (or nothing, behind the end of memory): while a kernel
/// computes, the processor's own fetching falls behind.
[[gnu::always_inline]] inline void fetch_ahead_of(const std::byte* block, std::size_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(block) + 8192;
    for (std::size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch(reinterpret_cast<const void*>(at + i), 0, 2);
}

/// AVX-512 VNNI: sixteen rows a register, all 32 at once. (Conversions are masked, by nothing, for
/// GCC 12 warns of its own unmasked ones.)
template <dtype Type>
[[gnu::target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]] void
multiply_quantised_avx512_vnni(const std::byte* panel, std::size_t blocks, const q8_block* x,
                               std::size_t stride, std::size_t columns, float* y) {
    constexpr quantised_block_layout layout(Type);
    const __m512i low_half = _mm512_set1_epi8(15);
    for (std::size_t i = 0; i < columns * panel_rows; i += 16)
        _mm512_storeu_ps(y + i, _mm512_setzero_ps());
    for (std::size_t b = 0; b < blocks; ++b, panel += layout.bytes) {
        fetch_ahead_of(panel, layout.bytes);
        __m512 scale[2], minimum[2];
        __m512i w[2][8];
        SPECDEC_UNROLL
        for (std::size_t h = 0; h < 2; ++h) {
            scale[h] = _mm512_maskz_cvtph_ps(
                0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel + 32 * h)));
            if constexpr (Type == dtype::q4_1)
                minimum[h] = _mm512_maskz_cvtph_ps(
                    0xFFFF, _mm256_loadu_si256(
                                reinterpret_cast<const __m256i*>(panel + layout.minima + 32 * h)));
            const std::byte* const numbers = panel + layout.numbers + 64 * h;
            if constexpr (Type == dtype::q8_0) {
                SPECDEC_UNROLL
                for (std::size_t i = 0; i < 8; ++i)
                    w[h][i] = _mm512_loadu_si512(numbers + 128 * i);
            } else {
                SPECDEC_UNROLL
                for (std::size_t i = 0; i < 4; ++i) {
                    const __m512i both = _mm512_loadu_si512(numbers + 128 * i);
                    w[h][i] = _mm512_and_si512(both, low_half);
                    w[h][i + 4] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low_half);
                }
            }
        }
        for (std::size_t c = 0; c < columns; ++c) {
            const q8_block& at = x[c * stride + b];
            __m512i dot[2][2];
            SPECDEC_UNROLL
            for (std::size_t h = 0; h < 2; ++h) {
                dot[h][0] = _mm512_set1_epi32(-quantised_offset(Type) * at.sum);
                dot[h][1] = _mm512_setzero_si512();
            }
            SPECDEC_UNROLL
            for (std::size_t i = 0; i < 8; ++i) {
                const __m512i four = _mm512_set1_epi32(four_at(at, i));
                SPECDEC_UNROLL
                for (std::size_t h = 0; h < 2; ++h)
                    dot[h][i % 2] = _mm512_dpbusd_epi32(dot[h][i % 2], w[h][i], four);
            }
            SPECDEC_UNROLL
            for (std::size_t h = 0; h < 2; ++h) {
                float* const out = y + c * panel_rows + 16 * h;
                const __m512i all = _mm512_add_epi32(dot[h][0], dot[h][1]);
                __m512 part = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(0xFFFF, all),
                                            _mm512_mul_ps(scale[h], _mm512_set1_ps(at.scale)));
                round_here(part);
                if constexpr (Type == dtype::q4_1) {
                    __m512 shift = _mm512_mul_ps(minimum[h], _mm512_set1_ps(at.scaled_sum));
                    round_here(shift);
                    part = _mm512_add_ps(part, shift);
                }
                _mm512_storeu_ps(out, _mm512_add_ps(_mm512_loadu_ps(out), part));
            }
        }
    }
}

/// dot += the products of four unsigned and four signed bytes each (AVX-VNNI).
[[gnu::target("avx2"), gnu::always_inline]] inline void add_dots(__m256i& dot, __m256i w,
                                                                 __m256i four) {
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(dot) : "x"(w), "x"(four));
}

/// Half of a block's numbers, in two times four registers of eight rows: 16 rows; or of 8 rows
/// the low and the high halves of bytes, whose products AVX2 could not add in 16 bits otherwise.
template <dtype Type, bool Split>
[[gnu::target("avx2"), gnu::always_inline]] inline void
unpack_half(const std::byte* numbers, std::size_t half, __m256i (&w)[2][4]) {
    const __m256i low_half = _mm256_set1_epi8(15);
    SPECDEC_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {
        SPECDEC_UNROLL
        for (std::size_t g = 0; g < 2; ++g) {
            const std::size_t at = 128 * (Type == dtype::q8_0 ? 4 * half + i : i);
            w[g][i] = _mm256_loadu_si256(
                reinterpret_cast<const __m256i*>(numbers + at + (Split ? 0 : 32 * g)));
            if (Split ? g == 1 : Type != dtype::q8_0 && half == 1)
                w[g][i] = _mm256_srli_epi16(w[g][i], 4);
            if (Split || Type != dtype::q8_0)
                w[g][i] = _mm256_and_si256(w[g][i], low_half);
        }
    }
}
/// sum += their products with that half of a column's block, in 32 bits where `Dots`, else in 16:
/// 16 products of at most 15 * 127 fit.
template <bool Dots>
[[gnu::target("avx2"), gnu::always_inline]] inline void
add_products(const __m256i (&w)[2][4], const q8_block& x, std::size_t half, __m256i (&sum)[2]) {
    SPECDEC_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {
        const __m256i four = _mm256_set1_epi32(four_at(x, 4 * half + i));
        SPECDEC_UNROLL
        for (std::size_t g = 0; g < 2; ++g)
            if constexpr (Dots)
                add_dots(sum[g], w[g][i], four);
            else
                sum[g] = _mm256_add_epi16(sum[g], _mm256_maddubs_epi16(w[g][i], four));
    }
}

/// AVX2, and AVX-VNNI where `Dots`: eight rows a register, 16 rows at once (8 of bytes without
/// dots). Columns go over the first half of a block's values and then over the second, so that
/// what they load is loaded for two registers of numbers.
template <dtype Type, bool Dots>
[[gnu::target("avx2,fma,f16c")]] void
multiply_quantised_avx2(const std::byte* panel, std::size_t blocks, const q8_block* x,
                        std::size_t stride, std::size_t columns, float* y) {
    constexpr quantised_block_layout layout(Type);
    constexpr bool split = Type == dtype::q8_0 && !Dots;
    constexpr std::size_t groups = split ? 1 : 2; // of eight rows
    const __m256i ones = _mm256_set1_epi16(1);
    for (std::size_t i = 0; i < columns * panel_rows; i += 8)
        _mm256_storeu_ps(y + i, _mm256_setzero_ps());
    __m256i sums[quantised_columns][2];
    for (std::size_t b = 0; b < blocks; ++b, panel += layout.bytes) {
        fetch_ahead_of(panel, layout.bytes);
        for (std::size_t first = 0; first < panel_rows; first += 8 * groups) {
            __m256i w[2][4];
            unpack_half<Type, split>(panel + layout.numbers + 4 * first, 0, w);
            for (std::size_t c = 0; c < columns; ++c) {
                __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
                add_products<Dots>(w, x[c * stride + b], 0, sum);
                sums[c][0] = sum[0];
                sums[c][1] = sum[1];
            }
            unpack_half<Type, split>(panel + layout.numbers + 4 * first, 1, w);
            __m256 scale[groups], minimum[groups];
            SPECDEC_UNROLL
            for (std::size_t g = 0; g < groups; ++g) {
                const std::byte* const at = panel + 2 * (first + 8 * g);
                scale[g] = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
                if constexpr (Type == dtype::q4_1)
                    minimum[g] = _mm256_cvtph_ps(
                        _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + layout.minima)));
            }
            for (std::size_t c = 0; c < columns; ++c) {
                const q8_block& at = x[c * stride + b];
                __m256i sum[2] = {sums[c][0], sums[c][1]};
                add_products<Dots>(w, at, 1, sum);
                if constexpr (split)
                    sum[0] = _mm256_add_epi32(_mm256_madd_epi16(sum[0], ones),
                                              _mm256_madd_epi16(sum[1], _mm256_set1_epi16(16)));
                SPECDEC_UNROLL
                for (std::size_t g = 0; g < groups; ++g) {
                    __m256i dot = Dots || split ? sum[g] : _mm256_madd_epi16(sum[g], ones);
                    if constexpr (quantised_offset(Type) > 0)
                        dot = _mm256_sub_epi32(dot,
                                               _mm256_set1_epi32(quantised_offset(Type) * at.sum));
                    float* const out = y + c * panel_rows + first + 8 * g;
                    __m256 part = _mm256_mul_ps(_mm256_cvtepi32_ps(dot),
                                                _mm256_mul_ps(scale[g], _mm256_set1_ps(at.scale)));
                    round_here(part);
                    if constexpr (Type == dtype::q4_1) {
                        __m256 shift = _mm256_mul_ps(minimum[g], _mm256_set1_ps(at.scaled_sum));
                        round_here(shift);
                        part = _mm256_add_ps(part, shift);
                    }
                    _mm256_storeu_ps(out, _mm256_add_ps(_mm256_loadu_ps(out), part));
                }
            }
        }
    }
}

} // namespace specdec::engine::detail
