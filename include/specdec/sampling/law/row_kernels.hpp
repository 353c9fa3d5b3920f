// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/sampling/law/floating_point.hpp>

/// The loops that read rows of logits, compiled for several instruction sets and chosen once
/// by what the CPU has. Vector code is written with the vector extensions of GCC and Clang.
namespace specdec::row_kernels {

constexpr float infinity = builtin::infinity;

/// A logit as a weight: w(l) = 2^((l - reference) * scale), 0 below `lowest`, NaN for NaN.
/// Pre: lowest > -infinity; (l - reference) * scale in [-125, 125] for finite logits not below
/// `lowest`.
struct exponent {
    float reference = 0;
    float scale = 1;
    float lowest = 0;
};

/// log2(e) / temperature, kept finite. Pre: temperature > 0.
inline float make_scale(double temperature) {
    const double scale = 1.4426950408889634 / temperature;
    return static_cast<float>(scale < 3e38 ? scale : 3e38);
}

/// The bits of a float, -0 as +0 (by whole numbers: a compiler may be told to ignore the sign of
/// zero).
inline std::uint32_t bits_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return bits & (0U - (bits << 1 != 0 ? 1U : 0U));
}

/// The exponent with the lowest `lowest` that its precondition allows. Pre: scale >= 1e-6;
/// reference is finite. (With another one it ends, too, and weights are NaN or 0.)
inline exponent make_exponent(float reference, float scale) {
    float lowest = reference - 124 / scale;
    if (!(lowest > -infinity))
        lowest = -0x1.fffffep127F;
    while ((lowest - reference) * scale < -125) { // rounded too far: the next float above
        const std::uint32_t bits = bits_of(lowest);
        lowest = std::bit_cast<float>(bits >> 31 != 0 ? bits - 1 : bits + 1);
    }
    return {reference, scale, lowest};
}

/// The loops of one instruction set. All of them give one logit one weight, bit for bit.
struct table {
    /// The largest value; -infinity for an empty row; NaN is ignored.
    float (*maximum)(const float* row, std::size_t n);
    /// The same of each block of that many values, in order; whether the row has no NaN.
    bool (*block_maxima)(const float* row, std::size_t n, std::size_t block, float* maxima);
    /// weights[i] = w(row[i]).
    void (*weigh)(const float* row, float* weights, std::size_t n, exponent e);
    /// weights[i] at least w(row[i]), at most 6.2 % more, in half the time. Pre: no NaN.
    void (*weigh_above)(const float* row, float* weights, std::size_t n, exponent e);
    /// Returns the sum of w(row[i]) in double, and in `maximum` the largest value.
    double (*sum)(const float* row, std::size_t n, exponent e, float& maximum);
};

} // namespace specdec::row_kernels

#define SPECDEC_KERNEL_NAMESPACE portable
#define SPECDEC_KERNEL_LANES 4
#define SPECDEC_KERNEL_TARGET
#include <specdec/sampling/law/row_kernels.inc>

#if SPECDEC_X86_KERNELS
#define SPECDEC_KERNEL_NAMESPACE avx2
#define SPECDEC_KERNEL_LANES 8
#define SPECDEC_KERNEL_TARGET SPECDEC_TARGET("avx2,fma")
#include <specdec/sampling/law/row_kernels.inc>

#define SPECDEC_KERNEL_NAMESPACE avx512
#define SPECDEC_KERNEL_LANES 16
#define SPECDEC_KERNEL_TARGET SPECDEC_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#include <specdec/sampling/law/row_kernels.inc>
#endif

namespace specdec::row_kernels {

/// The table of the best instruction set of this CPU.
inline const table& best() {
    static const table chosen = [] {
#if SPECDEC_X86_KERNELS
        const auto widest = builtin::of_this_cpu();
        if (widest == builtin::instructions::avx512)
            return avx512::functions;
        if (widest == builtin::instructions::avx2_fma)
            return avx2::functions;
#endif
        return portable::functions;
    }();
    return chosen;
}

} // namespace specdec::row_kernels
