// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/sampling/law/floating_point.hpp>

/// The loop that hashes a whole vocabulary for one draw, compiled for several instruction sets and
/// chosen once by what the CPU has. All give the same answers.
namespace specdec::race_kernels {

/// What names the noise of one draw.
struct noise_words {
    std::uint32_t a = 0, b = 0, c = 0;
};

/// A hash of the key, keyed by the words: for fixed words a permutation, so that different keys
/// never collide. Two rounds of multiply and shift down (with the constants of C. Wellons'
/// "lowbias32", which are among those with the least bias known), a word added in each.
[[nodiscard]] constexpr std::uint32_t upper(std::uint32_t key, const noise_words& noise) {
    std::uint32_t x = key ^ noise.a;
    x = (x ^ (x >> 16)) * 0x7FEB352DU + noise.b;
    x = (x ^ (x >> 15)) * 0x846CA68BU + noise.c;
    return x ^ (x >> 16);
}

/// Ids looked at by one call, and those that its answer tells apart.
inline constexpr std::size_t block = 256, group = 32;

/// Whether one id can win: the upper 24 bits of its noise are at most weight * limit.
[[nodiscard]] inline bool passes(std::uint32_t key, float weight, const noise_words& noise,
                                 float limit) {
    return static_cast<float>(upper(key, noise) >> 8) <= weight * limit;
}

/// Bit g: one of group g of a block passes (or comes near it, by rounding). Few blocks have one,
/// and only these are looked at twice. Shapes: keys, weights [block].
using screen_function = std::uint32_t (*)(const std::uint32_t* keys, const float* weights,
                                          const noise_words& noise, float limit);

} // namespace specdec::race_kernels

#define SPECDEC_KERNEL_NAMESPACE portable
#define SPECDEC_KERNEL_LANES 4
#define SPECDEC_KERNEL_TARGET
#include <specdec/sampling/coin/race_kernels.inc>

#if SPECDEC_X86_KERNELS
#define SPECDEC_KERNEL_NAMESPACE avx2
#define SPECDEC_KERNEL_LANES 8
#define SPECDEC_KERNEL_TARGET SPECDEC_TARGET("avx2")
#include <specdec/sampling/coin/race_kernels.inc>

#define SPECDEC_KERNEL_NAMESPACE avx512
#define SPECDEC_KERNEL_LANES 16
#define SPECDEC_KERNEL_TARGET SPECDEC_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2")
#include <specdec/sampling/coin/race_kernels.inc>
#endif

namespace specdec::race_kernels {

/// The loop of the best instruction set of this CPU.
inline screen_function best() {
    static const screen_function chosen = [] {
#if SPECDEC_X86_KERNELS
        const auto widest = builtin::of_this_cpu();
        if (widest == builtin::instructions::avx512)
            return avx512::screen;
        if (widest == builtin::instructions::avx2_fma)
            return avx2::screen;
#endif
        return portable::screen;
    }();
    return chosen;
}

} // namespace specdec::race_kernels
