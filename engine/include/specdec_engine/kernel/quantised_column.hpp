// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::bit_cast
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <utility> // std::index_sequence

#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/lines.hpp>
#include <specdec_engine/kernel/numbers.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp> // SPECDEC_UNROLL

/// Inputs of integer products: a column of floats in blocks of 32, each of whole numbers from -127
/// to 127 and a scale,
///
///     x[k] = scale * n[k],   scale = greatest |x| of the block / 127,   n to nearest, ties even
///
/// A column depends on nothing but its numbers: it is the same with all instructions. A block that
/// holds an infinity or a NaN has such a scale, so products of it are no numbers either.
namespace specdec::engine {

/// Values of a block: the same as those of the weights.
inline constexpr std::size_t quantised_values = 32;

/// Columns that a call of a kernel is given at most.
inline constexpr std::size_t quantised_columns = 16;

struct q8_block {
    std::int8_t values[quantised_values];
    float scale;
    float scaled_sum; ///< scale * sum: what a minimum of the weights is multiplied with
    std::int32_t sum; ///< of the values: what an offset of the weights is multiplied with
};

[[nodiscard]] constexpr std::size_t blocks_of(std::size_t n) {
    return (n + quantised_values - 1) / quantised_values;
}

/// n numbers become blocks_of(n) blocks. x is readable to the end of the last, and zero behind n.
using column_quantiser = void (*)(const float* x, std::size_t n, q8_block* out);

namespace detail {

/// Keeps a product from being fused with the sum it goes into, which GCC would do for some
/// instruction sets unless it is told otherwise (clang does so within one expression only): what
/// is rounded twice everywhere is the same everywhere.
template <class Vector>
[[gnu::always_inline]] inline void round_here([[maybe_unused]] Vector& product) {
#if !defined(__clang__)
#if defined(__x86_64__)
    asm("" : "+v"(product));
#elif defined(__aarch64__)
    asm("" : "+w"(product));
#else
    asm("" : "+m"(product));
#endif
#endif
}

/// v's lanes, those from Step on first.
template <std::size_t Step, class Vector, std::size_t... I>
[[gnu::always_inline]] inline void turn_lanes(Vector& v, std::index_sequence<I...>) {
    v = __builtin_shufflevector(v, v, static_cast<int>((I + Step) % sizeof...(I))...);
}
/// Every lane becomes `into` of all.
template <std::size_t Lanes, class Vector, class Into>
[[gnu::always_inline]] inline void fold_lanes(Vector& v, const Into& into) {
    if constexpr (Lanes > 1) {
        constexpr auto all = std::make_index_sequence<sizeof(Vector) / sizeof(std::int32_t)>{};
        Vector turned = v;
        turn_lanes<Lanes / 2>(turned, all);
        into(v, turned);
        fold_lanes<Lanes / 2>(v, into);
    }
}

/// The low bytes of a block's numbers. Of 8 lanes GCC would take them one by one; here the four
/// parts share a register, whose bytes are then put in order.
template <std::size_t Lanes, class Ints, std::size_t Parts>
[[gnu::always_inline]] inline void store_bytes(const Ints (&x)[Parts], std::int8_t* to) {
    if constexpr (Lanes == 8) {
        using bytes [[gnu::vector_size(quantised_values)]] = std::int8_t;
        const auto all = reinterpret_cast<bytes>((x[0] & 255) | (x[1] & 255) << 8 |
                                                 (x[2] & 255) << 16 | x[3] << 24);
        const bytes ordered =
            __builtin_shufflevector(all, all, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25,
                                    29, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
        std::memcpy(to, &ordered, sizeof ordered);
    } else {
        using bytes [[gnu::vector_size(Lanes)]] = std::int8_t;
        SPECDEC_UNROLL
        for (std::size_t i = 0; i < Parts; ++i) {
            const bytes narrow = __builtin_convertvector(x[i], bytes);
            std::memcpy(to + i * Lanes, &narrow, sizeof narrow);
        }
    }
}

template <std::size_t Lanes>
[[gnu::always_inline]] inline void quantise_column(const float* x, std::size_t n, q8_block* out) {
    using floats = typename line_part<Lanes>::floats;
    using ints = typename line_part<Lanes>::ints;
    constexpr std::size_t parts = quantised_values / Lanes;
    // Added, it leaves a number's nearest whole one in the low bits.
    constexpr float whole = 12582912.0F; // 1.5 * 2^23, whose own low bits are zero
    for (std::size_t first = 0; first < n; first += quantised_values, ++out) {
        floats v[parts];
        ints greatest = {}; // the bits of magnitudes, which compare as these do; NaNs are greatest
        SPECDEC_UNROLL
        for (std::size_t i = 0; i < parts; ++i) {
            load(v[i], x + first + i * Lanes);
            const ints magnitude = reinterpret_cast<ints>(v[i]) & 0x7FFFFFFF;
            greatest = magnitude > greatest ? magnitude : greatest;
        }
        fold_lanes<Lanes>(greatest, [](ints& a, const ints& b) { a = a > b ? a : b; });
        const auto top = std::bit_cast<float>(static_cast<std::int32_t>(greatest[0]));
        // Tiny blocks, whose inverse would overflow, are zero; so are NaNs', whose scale tells.
        const float inverse = top >= 1e-30F ? 127.0F / top : 0.0F;
        ints sum = {}, near[parts];
        SPECDEC_UNROLL
        for (std::size_t i = 0; i < parts; ++i) {
            floats scaled = v[i] * inverse;
            round_here(scaled);
            near[i] = reinterpret_cast<ints>(scaled + whole) << 24 >> 24; // a NaN makes some, too
            sum += near[i];
        }
        store_bytes<Lanes>(near, out->values);
        fold_lanes<Lanes>(sum, [](ints& a, const ints& b) { a += b; });
        out->sum = sum[0];
        out->scale = top / 127.0F;
        out->scaled_sum = out->scale * static_cast<float>(out->sum);
    }
}

inline void quantise_column_portable(const float* x, std::size_t n, q8_block* out) {
    quantise_column<4>(x, n, out);
}
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] inline void quantise_column_avx2(const float* x, std::size_t n,
                                                             q8_block* out) {
    quantise_column<8>(x, n, out);
}
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]] inline void
quantise_column_avx512(const float* x, std::size_t n, q8_block* out) {
    quantise_column<16>(x, n, out);
}
#endif

} // namespace detail

/// The one of an instruction set that the CPU has (see best_isa).
[[nodiscard]] inline column_quantiser column_quantiser_for(isa set) {
#if defined(__x86_64__)
    if (set >= isa::avx512)
        return &detail::quantise_column_avx512;
    if (set >= isa::avx2)
        return &detail::quantise_column_avx2;
#endif
    static_cast<void>(set);
    return &detail::quantise_column_portable;
}

} // namespace specdec::engine
