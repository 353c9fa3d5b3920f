// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy

#include <specdec/reference/isa.hpp>
#include <specdec/reference/numbers.hpp>
#include <specdec/reference/panel_kernel.hpp> // SPECDEC_UNROLL

/// Products of matrix rows that lie anywhere, each in one piece: for lists of rows, of which panels
/// would be read 32 at a time.
namespace specdec::reference {

/// Rows that one call takes.
inline constexpr std::size_t rows_at_once = 4;
/// Rows and inputs are padded with zeros to a multiple of this.
inline constexpr std::size_t row_multiple = 16;

/// y[r] = rows[r] times x, for four rows of `length` values. While it reads them it fetches the
/// rows behind `next`. Each product is summed in one order, whatever stands beside it.
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
[[gnu::always_inline]] inline void multiply_rows(const bf16_bits* const* rows,
                                                 const bf16_bits* const* next, std::size_t length,
                                                 const float* x, float* y) {
    using floats = typename vectors<Lanes>::floats;
    using words = typename vectors<Lanes>::words;
    using halves = typename vectors<Lanes>::halves;
    floats sum[rows_at_once] = {};
    for (std::size_t k = 0; k < length; k += Lanes) {
        floats v;
        std::memcpy(&v, x + k, sizeof v);
        SPECDEC_UNROLL
        for (std::size_t r = 0; r < rows_at_once; ++r) {
            __builtin_prefetch(next[r] + k, 0, 2);
            halves h;
            std::memcpy(&h, rows[r] + k, sizeof h);
            const words wide = __builtin_convertvector(h, words) << 16;
            sum[r] += reinterpret_cast<floats>(wide) * v;
        }
    }
    SPECDEC_UNROLL
    for (std::size_t r = 0; r < rows_at_once; ++r) {
        float total = 0;
        for (std::size_t i = 0; i < Lanes; ++i)
            total += sum[r][i];
        y[r] = total;
    }
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
#endif

} // namespace detail

/// The kernel of an instruction set the CPU has.
[[nodiscard]] inline row_kernel row_kernel_for(isa set) {
#if defined(__x86_64__)
    if (set >= isa::avx512)
        return &detail::multiply_rows_avx512;
    if (set == isa::avx2)
        return &detail::multiply_rows_avx2;
#endif
    static_cast<void>(set);
    return &detail::multiply_rows_portable;
}

} // namespace specdec::reference
