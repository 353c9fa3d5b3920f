// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <specdec_engine/kernel/numbers.hpp>

/// GGUF's K-quants: blocks of 256 values, in parts of 16 or 32 that have a scale each, and in some
/// a minimum; D and M are F16 factors of all scales s and minima m of a block. Sizes are bytes, n
/// is a whole number.
///
///     Q2_K  s, m [16] | n low [64] | D | M              (D s) n - M m         s low half, m high
///     half Q3_K  n high [32] | n low [64] | s [12] | D       D (s - 32) (n - 4) Q4_K  D | M | s, m
///     [12] | n low [128]             (D s) n - M m Q5_K  D | M | s, m [12] | n high [32] | n low
///     [128]   the same Q6_K  n low [128] | n high [64] | s [16, signed] | D  D s (n - 32)
///
/// Low bits: those of one byte are of values that stand 32 apart (64 for the low half and the high
/// half of a byte of Q6_K). High bits: bit b, or pair of bits, of byte l is of value l of the 32
/// that stand at 32 b.
///
/// Allocation: none. Thread safety: none needed.
namespace specdec::engine {

namespace detail {

[[nodiscard]] inline unsigned bits_of(const std::byte* at, unsigned shift, unsigned count) {
    return std::to_integer<unsigned>(*at) >> shift & ((1U << count) - 1U);
}

} // namespace detail

/// 84 bytes, 256 values.
inline void dequantise_q2_k(const std::byte* block, float* out) {
    const std::byte* const low = block + 16;
    const float d = half_at(block + 80), m = half_at(block + 82);
    for (std::size_t i = 0; i < 256; ++i) {
        const std::byte* const part = block + i / 16;
        const float scale = d * static_cast<float>(detail::bits_of(part, 0, 4));
        const float minimum = m * static_cast<float>(detail::bits_of(part, 4, 4));
        const auto shift = static_cast<unsigned>(i / 32 % 4 * 2);
        const unsigned n = detail::bits_of(low + i / 128 * 32 + i % 32, shift, 2);
        out[i] = scale * static_cast<float>(n) - minimum;
    }
}

/// 110 bytes, 256 values.
inline void dequantise_q3_k(const std::byte* block, float* out) {
    const std::byte *const high = block, *const low = block + 32, *const scales = block + 96;
    const float d = half_at(block + 108);
    for (std::size_t i = 0; i < 256; ++i) {
        // Four bits of 16 scales in eight bytes; two bits of each in the four after them.
        const std::size_t part = i / 16;
        const unsigned s =
            detail::bits_of(scales + part % 8, part < 8 ? 0 : 4, 4) |
            detail::bits_of(scales + 8 + part % 4, static_cast<unsigned>(part / 4 * 2), 2) << 4;
        const auto shift = static_cast<unsigned>(i / 32 % 4 * 2);
        const unsigned n = detail::bits_of(low + i / 128 * 32 + i % 32, shift, 2) |
                           detail::bits_of(high + i % 32, static_cast<unsigned>(i / 32), 1) << 2;
        out[i] = d * (static_cast<float>(s) - 32.0F) * (static_cast<float>(n) - 4.0F);
    }
}

/// 144 bytes, 256 values; with a fifth bit of each 176 bytes.
inline void dequantise_q4_k(const std::byte* block, bool fifth, float* out) {
    const float d = half_at(block), m = half_at(block + 2);
    const std::byte *const scales = block + 4, *const high = block + 16;
    const std::byte* const low = fifth ? high + 32 : high;
    for (std::size_t part = 0; part < 8; ++part) {
        // Six bits of each: the first four parts have a byte for each, whose two upper bits, with
        // the last four bytes' halves, make those of the others.
        const std::byte *const at = scales + part % 4, *const rest = scales + 8 + part % 4;
        const unsigned s = part < 4 ? detail::bits_of(at, 0, 6)
                                    : detail::bits_of(rest, 0, 4) | detail::bits_of(at, 6, 2) << 4;
        const unsigned least =
            part < 4 ? detail::bits_of(at + 4, 0, 6)
                     : detail::bits_of(rest, 4, 4) | detail::bits_of(at + 4, 6, 2) << 4;
        const float scale = d * static_cast<float>(s), minimum = m * static_cast<float>(least);
        for (std::size_t l = 0; l < 32; ++l) {
            unsigned n = detail::bits_of(low + part / 2 * 32 + l, part % 2 == 0 ? 0 : 4, 4);
            if (fifth)
                n |= detail::bits_of(high + l, static_cast<unsigned>(part), 1) << 4;
            out[32 * part + l] = scale * static_cast<float>(n) - minimum;
        }
    }
}

/// 210 bytes, 256 values.
inline void dequantise_q6_k(const std::byte* block, float* out) {
    const std::byte *const high = block + 128, *const scales = block + 192;
    const float d = half_at(block + 208);
    for (std::size_t i = 0; i < 256; ++i) {
        const std::size_t half = i / 128, quarter = i / 32 % 4, l = i % 32;
        const unsigned n =
            detail::bits_of(block + 64 * half + quarter % 2 * 32 + l, quarter < 2 ? 0 : 4, 4) |
            detail::bits_of(high + 32 * half + l, static_cast<unsigned>(2 * quarter), 2) << 4;
        const float scale = d * static_cast<float>(std::to_integer<std::int8_t>(scales[i / 16]));
        out[i] = scale * (static_cast<float>(n) - 32.0F);
    }
}

} // namespace specdec::engine
