// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/basic/sums_as_written.hpp>
#include <specdec/sampling/law/floating_point.hpp>

/// exp of many doubles at once, with the widest instructions of the CPU: most of the time that a
/// loss over a large vocabulary takes goes into them. (Weights of sampling are floats, and so are
/// the engine's exponentials: gradients need more digits.) Relative error: below 4.5e-16, where x
/// is not below -708; 0 or at most 1e-307 there. NaN for NaN. Instruction sets may differ in the
/// last bits. Pre: none is above 700. Allocates nothing.
namespace specdec {

/// Numbers that one call takes.
inline constexpr std::size_t exponentials_at_once = 64;

namespace exponentials_detail {

using function = void (*)(double* x);

inline void plain(double* x) {
    for (std::size_t i = 0; i < exponentials_at_once; ++i)
        x[i] = builtin::exp(x[i]);
}

#if SPECDEC_X86_KERNELS
/// x = n ln 2 + r with |r| <= ln 2 / 2: 2^n, made of bits, times the series of exp(r) to r^13 /
/// 13!. Lanes: doubles of a register (GCC takes wider vectors apart number by number).
template <std::size_t Lanes>
SPECDEC_ALWAYS_INLINE void in_lanes(double* x) {
    SPECDEC_SUMS_AS_WRITTEN
    SPECDEC_LANES(doubles, double, Lanes);
    SPECDEC_LANES(words, std::uint64_t, Lanes);
    constexpr double whole = 6755399441055744.0; // 1.5 * 2^52: added, it leaves n in the low bits
    constexpr double series[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                 1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                 1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
    for (std::size_t i = 0; i < exponentials_at_once; i += Lanes) {
        doubles asked;
        builtin::copy(&asked, x + i, sizeof asked);
        const doubles zero = {}, low = zero - 708.0;
        const doubles at = SPECDEC_LANES_SELECT(asked < low, low, asked); // NaN stays
        const doubles shifted = at * 1.4426950408889634 + whole;
        const doubles n = shifted - whole;
        const doubles r = (at - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
        doubles p = zero + series[0];
        for (std::size_t k = 1; k < sizeof series / sizeof series[0]; ++k)
            p = p * r + series[k];
        p = p * (r * r) + r + 1.0;
        const words power = (SPECDEC_LANES_BITS(words, shifted) + std::uint64_t{1023}) << 52;
        p = SPECDEC_LANES_SELECT(asked < low, zero, p * SPECDEC_LANES_BITS(doubles, power));
        builtin::copy(x + i, &p, sizeof p);
    }
}

SPECDEC_TARGET("avx2,fma") inline void avx2(double* x) {
    in_lanes<4>(x);
}
SPECDEC_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma") inline void avx512(double* x) {
    in_lanes<8>(x);
}
#endif

/// Those of instructions that the CPU has.
[[nodiscard]] inline function of(builtin::instructions set) {
#if SPECDEC_X86_KERNELS
    if (set == builtin::instructions::avx512)
        return avx512;
    if (set == builtin::instructions::avx2_fma)
        return avx2;
#endif
    static_cast<void>(set);
    return plain;
}

} // namespace exponentials_detail

/// x[i] becomes exp(x[i]), 64 of them.
inline void exponentials(double* x) {
    static const exponentials_detail::function best =
        exponentials_detail::of(builtin::of_this_cpu());
    best(x);
}

} // namespace specdec
