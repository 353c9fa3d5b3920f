// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy

#include <specdec/sampling/law/floating_point.hpp>
#include <specdec_engine/kernel/fused.hpp>
#include <specdec_engine/kernel/numbers.hpp>

/// Lines of floats as vectors. GCC lowers comparisons, choices and conversions of vectors that are
/// wider than the instruction set's registers number by number, so a line is worked on in parts of
/// as many lanes as a register has.
namespace specdec::engine {

/// A cache line of floats.
inline constexpr std::size_t line_values = 16;

namespace detail {

/// Vectors of so many lanes.
template <std::size_t Lanes>
struct line_part {
    using floats [[gnu::vector_size(4 * Lanes)]] = float;
    using bits [[gnu::vector_size(4 * Lanes)]] = std::uint32_t;
    using ints [[gnu::vector_size(4 * Lanes)]] = std::int32_t;
    using halves [[gnu::vector_size(2 * Lanes)]] = std::uint16_t;
};

template <class Floats>
inline constexpr std::size_t lanes_of = sizeof(Floats) / sizeof(float);

// Vectors go by reference: by value they would have an ABI of their own in every instruction set.
template <class Floats>
[[gnu::always_inline]] inline void load(Floats& to, const float* from) {
    std::memcpy(&to, from, sizeof to);
}

template <class Floats>
[[gnu::always_inline]] inline void store_rounded(const Floats& x, float* to) {
    std::memcpy(to, &x, sizeof x);
}

/// BF16 in the upper halves, as round_to_bf16; what is below is of no meaning.
template <class Floats, class Bits>
[[gnu::always_inline]] inline void round_line(const Floats& x, Bits& to) {
    const auto bits = reinterpret_cast<Bits>(x);
    const Bits rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
    using ints = typename line_part<lanes_of<Floats>>::ints;
    const auto magnitude = reinterpret_cast<ints>(bits & 0x7FFFFFFFU);
    to = magnitude > 0x7F800000 ? (bits | 0x400000U) : rounded;
}

template <class Floats>
[[gnu::always_inline]] inline void store_rounded(const Floats& x, bf16_bits* to) {
    using part = line_part<lanes_of<Floats>>;
    typename part::bits kept;
    round_line(x, kept);
    const auto halves = __builtin_convertvector(kept >> 16, typename part::halves);
    std::memcpy(to, &halves, sizeof halves);
}

/// x = exp(x), to about 2 units in the last place: 2^n e^r, |r| <= ln 2 / 2 (Cephes' polynomial).
template <class Floats>
[[gnu::always_inline]] inline void exponential(Floats& x) {
    SPECDEC_SUMS_AS_WRITTEN
    using ints = typename line_part<lanes_of<Floats>>::ints;
    const Floats low = Floats{} - 87.3F;
    const Floats high = Floats{} + 88.3F;
    x = x < low ? low : x;
    x = x > high ? high : x;
    Floats near = x < 0.0F ? Floats{} - 0.5F : Floats{} + 0.5F;
    add_product(near, x, Floats{} + 1.44269504F);
    const ints n = __builtin_convertvector(near, ints);
    const Floats whole = __builtin_convertvector(n, Floats);
    Floats r = x;
    add_product(r, whole, Floats{} - 0.693359375F);
    add_product(r, whole, Floats{} + 2.12194440e-4F);
    Floats p = Floats{} + 1.9875691500e-4F;
    scale_and_add(p, r, Floats{} + 1.3981999507e-3F);
    scale_and_add(p, r, Floats{} + 8.3334519073e-3F);
    scale_and_add(p, r, Floats{} + 4.1665795894e-2F);
    scale_and_add(p, r, Floats{} + 1.6666665459e-1F);
    scale_and_add(p, r, Floats{} + 5.0000001201e-1F);
    scale_and_add(p, r * r, r);
    const ints power = (n + 127) << 23;
    x = (p + 1.0F) * reinterpret_cast<Floats>(power);
}

/// Lanes from n on become 0.0, of a part that begins at lane `first` of its line.
template <class Floats>
[[gnu::always_inline]] inline void keep_first(Floats& x, std::size_t n, std::size_t first) {
    using bits = typename line_part<lanes_of<Floats>>::bits;
    static constexpr auto kept = [] {
        std::array<std::uint32_t, 2 * line_values> all{};
        for (std::size_t i = 0; i < line_values; ++i)
            all[i] = 0xFFFFFFFF;
        return all;
    }();
    bits mask;
    std::memcpy(&mask, kept.data() + line_values - std::min(n, line_values) + first, sizeof mask);
    x = reinterpret_cast<Floats>(reinterpret_cast<bits>(x) & mask);
}

/// The sum of a line, in order.
template <class Floats, std::size_t Parts>
[[gnu::always_inline]] inline float total(const Floats (&x)[Parts]) {
    float sum = x[0][0];
    for (std::size_t i = 1; i < line_values; ++i)
        sum += x[i / lanes_of<Floats>][i % lanes_of<Floats>];
    return sum;
}

} // namespace detail

} // namespace specdec::engine
