// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy

#if defined(__x86_64__)
#include <immintrin.h> // _mm512_dpbf16_ps
#endif

#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/numbers.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp> // SPECDEC_UNROLL

/// Products of matrix rows that lie anywhere, each in one piece: for lists of rows, of which panels
/// would be read 32 at a time.
namespace specdec::engine {

/// Rows that one call takes.
inline constexpr std::size_t rows_at_once = 4;
/// Rows and inputs are padded with zeros to a multiple of this, a cache line of a row.
inline constexpr std::size_t row_multiple = 32;
/// Rows lie anywhere, so no hardware fetches them early: the kernel does, so many rows before.
inline constexpr std::size_t rows_ahead = 32;

/// y[r] = rows[r] times x, for four rows of `length` values; with AVX-512 BF16 x is rounded to it.
/// While it reads them it fetches those of `next`. Each product is summed in one order, whatever
/// stands beside it.
using row_kernel = void (*)(const bf16_bits* const* rows, const bf16_bits* const* next,
                            std::size_t length, const float* x, float* y);

namespace detail {

template <std::size_t Lanes>
struct vectors {
    using floats [[gnu::vector_size(Lanes * sizeof(float))]] = float;
    using words [[gnu::vector_size(Lanes * sizeof(float))]] = std::uint32_t;
    using halves [[gnu::vector_size(Lanes * sizeof(std::uint16_t))]] = std::uint16_t;
};

template <std::size_t Lanes>
[[gnu::always_inline]] inline float sum_of(const typename vectors<Lanes>::floats& v) {
    float total = 0;
    for (std::size_t i = 0; i < Lanes; ++i)
        total += v[i];
    return total;
}

template <std::size_t Lanes>
[[gnu::always_inline]] inline void multiply_rows(const bf16_bits* const* rows,
                                                 const bf16_bits* const* next, std::size_t length,
                                                 const float* x, float* y) {
    using floats = typename vectors<Lanes>::floats;
    using words = typename vectors<Lanes>::words;
    using halves = typename vectors<Lanes>::halves;
    floats sum[rows_at_once] = {};
    for (std::size_t first = 0; first < length; first += row_multiple) {
        for (std::size_t r = 0; r < rows_at_once; ++r)
            __builtin_prefetch(next[r] + first, 0, 2);
        for (std::size_t k = first; k < first + row_multiple; k += Lanes) {
            floats v;
            std::memcpy(&v, x + k, sizeof v);
            SPECDEC_UNROLL
            for (std::size_t r = 0; r < rows_at_once; ++r) {
                halves h;
                std::memcpy(&h, rows[r] + k, sizeof h);
                const words wide = __builtin_convertvector(h, words) << 16;
                sum[r] += reinterpret_cast<floats>(wide) * v;
            }
        }
    }
    for (std::size_t r = 0; r < rows_at_once; ++r)
        y[r] = sum_of<Lanes>(sum[r]);
}

inline void multiply_rows_portable(const bf16_bits* const* rows, const bf16_bits* const* next,
                                   std::size_t length, const float* x, float* y) {
    multiply_rows<4>(rows, next, length, x, y);
}
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] inline void multiply_rows_avx2(const bf16_bits* const* rows,
                                                           const bf16_bits* const* next,
                                                           std::size_t length, const float* x,
                                                           float* y) {
    multiply_rows<8>(rows, next, length, x, y);
}
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]] inline void
multiply_rows_avx512(const bf16_bits* const* rows, const bf16_bits* const* next, std::size_t length,
                     const float* x, float* y) {
    multiply_rows<16>(rows, next, length, x, y);
}
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]] inline void
multiply_rows_avx512_bf16(const bf16_bits* const* rows, const bf16_bits* const* next,
                          std::size_t length, const float* x, float* y) {
    __m512 sum[rows_at_once];
    SPECDEC_UNROLL
    for (std::size_t r = 0; r < rows_at_once; ++r)
        sum[r] = _mm512_setzero_ps();
    for (std::size_t k = 0; k < length; k += row_multiple) {
        const __m512bh v = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + k + 16), _mm512_loadu_ps(x + k));
        SPECDEC_UNROLL
        for (std::size_t r = 0; r < rows_at_once; ++r) {
            __builtin_prefetch(next[r] + k, 0, 2);
            const auto row = reinterpret_cast<__m512bh>(_mm512_loadu_si512(rows[r] + k));
            sum[r] = _mm512_dpbf16_ps(sum[r], row, v);
        }
    }
    for (std::size_t r = 0; r < rows_at_once; ++r)
        y[r] = sum_of<16>(reinterpret_cast<vectors<16>::floats>(sum[r]));
}
#endif

} // namespace detail

/// The kernel of an instruction set the CPU has.
[[nodiscard]] inline row_kernel row_kernel_for(isa set) {
#if defined(__x86_64__)
    if (set >= isa::avx512_bf16)
        return &detail::multiply_rows_avx512_bf16;
    if (set >= isa::avx512)
        return &detail::multiply_rows_avx512;
    if (set >= isa::avx2)
        return &detail::multiply_rows_avx2;
#endif
    static_cast<void>(set);
    return &detail::multiply_rows_portable;
}

} // namespace specdec::engine
