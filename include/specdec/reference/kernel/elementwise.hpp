// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy

#include <Eigen/Core>

#include <specdec/reference/kernel/panels.hpp>
#include <specdec/sampling/law/floating_point.hpp>

/// What a transformer does to single positions: RMSNorm, SwiGLU, softmax. Every function sees one
/// column at a time, in whole lines of 16 values, so that a result depends on neither the grouping
/// of positions nor their addresses. (Eigen's vector and scalar exp differ in the last bit, and its
/// instructions are fixed when a program is compiled; these are chosen with the kernel's.)
namespace specdec::reference {

/// A cache line of floats. Columns start on cache lines and are padded with zeros to whole ones.
inline constexpr std::size_t line_values = 16;

[[nodiscard]] constexpr std::size_t column_stride(std::size_t n) {
    return round_up(n, line_values);
}

/// A column as Eigen sees it, for sums of columns.
using aligned_column = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;
using aligned_constant_column = Eigen::Map<const Eigen::ArrayXf, Eigen::Aligned64>;
[[nodiscard]] inline aligned_column column(float* data, std::size_t n) {
    return {data, static_cast<Eigen::Index>(n)};
}
[[nodiscard]] inline aligned_constant_column column(const float* data, std::size_t n) {
    return {data, static_cast<Eigen::Index>(n)};
}

/// The functions, for one instruction set.
template <PanelValue Value>
struct column_functions {
    /// out = x / rms(x) * weight, rounded to Value; n values, in lines.
    void (*rms_norm)(const float* x, const float* weight, std::size_t n, float epsilon, Value* out);
    /// A line of silu(gate) * up, silu(z) = z / (1 + exp(-z)); `tile` is [columns][gate 16, up 16].
    void (*swiglu)(const float* tile, std::size_t columns, Value* out, std::size_t stride);
    /// Turns the first n scores into exp(score - greatest), rounded to Value, and the rest of
    /// `padded` (whole lines) into zeros. Returns 1 / the sum of the exponentials.
    float (*softmax)(float* scores, std::size_t n, std::size_t padded, Value* out);
    /// Rounds n values times a factor; x is readable to the end of its last line.
    void (*scale)(const float* x, float factor, std::size_t n, Value* out);
};

namespace detail {

using line [[gnu::vector_size(64)]] = float; // lowered to what the instruction set has
using line_bits [[gnu::vector_size(64)]] = std::uint32_t;
using line_ints [[gnu::vector_size(64)]] = std::int32_t;
using line_halves [[gnu::vector_size(32)]] = std::uint16_t;

// Lines go by reference: by value they would have an ABI of their own in every instruction set.
[[gnu::always_inline]] inline void load(line& to, const float* from) {
    std::memcpy(&to, from, sizeof to);
}

[[gnu::always_inline]] inline void store_rounded(const line& x, float* to) {
    std::memcpy(to, &x, sizeof x);
}

/// BF16 in the upper halves, as round_to_bf16; what is below is of no meaning.
[[gnu::always_inline]] inline void round_line(const line& x, line_bits& to) {
    const auto bits = reinterpret_cast<line_bits>(x);
    const line_bits rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
    to = (bits & 0x7FFFFFFFU) > 0x7F800000U ? (bits | 0x400000U) : rounded;
}

[[gnu::always_inline]] inline void store_rounded(const line& x, bf16_bits* to) {
    line_bits kept;
    round_line(x, kept);
    const line_halves halves = __builtin_convertvector(kept >> 16, line_halves);
    std::memcpy(to, &halves, sizeof halves);
}

/// x = exp(x), to about 2 units in the last place: 2^n e^r with |r| <= ln 2 / 2 (Cephes'
/// polynomial).
[[gnu::always_inline]] inline void exponential(line& x) {
    SPECDEC_SUMS_AS_WRITTEN
    const line low = line{} - 87.3F;
    const line high = line{} + 88.3F;
    x = x < low ? low : x;
    x = x > high ? high : x;
    const line_ints n = __builtin_convertvector(
        x * 1.44269504F + (x < 0.0F ? line{} - 0.5F : line{} + 0.5F), line_ints);
    const line whole = __builtin_convertvector(n, line);
    const line r = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;
    line p = line{} + 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    const line_ints power = (n + 127) << 23;
    x = (p * (r * r) + r + 1.0F) * reinterpret_cast<line>(power);
}

[[gnu::always_inline]] inline float total(const line& x) {
    float sum = x[0];
    for (std::size_t i = 1; i < line_values; ++i)
        sum += x[i];
    return sum;
}

template <class Value>
[[gnu::always_inline]] inline void rms_norm_body(const float* x, const float* weight, std::size_t n,
                                                 float epsilon, Value* out) {
    line squares = {};
    for (std::size_t i = 0; i < n; i += line_values) {
        line v;
        load(v, x + i);
        squares += v * v;
    }
    const float scale = 1.0F / std::sqrt(total(squares) / static_cast<float>(n) + epsilon);
    for (std::size_t i = 0; i < n; i += line_values) {
        line v;
        line w;
        load(v, x + i);
        load(w, weight + i);
        store_rounded(w * (v * scale), out + i);
    }
}

template <class Value>
[[gnu::always_inline]] inline void swiglu_body(const float* tile, std::size_t columns, Value* out,
                                               std::size_t stride) {
    for (std::size_t c = 0; c < columns; ++c) {
        line gate;
        line up;
        load(gate, tile + c * panel_rows);
        load(up, tile + c * panel_rows + line_values);
        line e = -gate;
        exponential(e);
        store_rounded(gate / (1.0F + e) * up, out + c * stride);
    }
}

template <class Value>
[[gnu::always_inline]] inline float softmax_body(float* scores, std::size_t n, std::size_t padded,
                                                 Value* out) {
    const std::size_t whole = round_up(n, line_values);
    for (std::size_t i = n; i < whole; ++i)
        scores[i] = scores[0];
    line greatest;
    load(greatest, scores);
    for (std::size_t i = line_values; i < whole; i += line_values) {
        line v;
        load(v, scores + i);
        greatest = v > greatest ? v : greatest;
    }
    float top = greatest[0];
    for (std::size_t i = 1; i < line_values; ++i)
        top = greatest[i] > top ? greatest[i] : top;
    line sum = {};
    for (std::size_t i = 0; i < whole; i += line_values) {
        line v;
        load(v, scores + i);
        v -= top;
        exponential(v);
        for (std::size_t j = n; j < i + line_values; ++j)
            v[j - i] = 0.0F; // the last line's tail
        sum += v;
        store_rounded(v, out + i);
    }
    for (std::size_t i = whole; i < padded; ++i)
        out[i] = Value{};
    return 1.0F / total(sum);
}

template <class Value>
[[gnu::always_inline]] inline void scale_body(const float* x, float factor, std::size_t n,
                                              Value* out) {
    for (std::size_t i = 0; i < n; i += line_values) {
        line v;
        load(v, x + i);
        if (n - i >= line_values) {
            store_rounded(v * factor, out + i);
        } else {
            Value last[line_values];
            store_rounded(v * factor, last);
            std::memcpy(out + i, last, (n - i) * sizeof(Value));
        }
    }
}

// The four bodies, compiled for one instruction set.
#define SPECDEC_COLUMN_FUNCTIONS(SET, TARGET)                                                      \
    template <class Value>                                                                         \
    struct SET {                                                                                   \
        TARGET static void rms_norm(const float* x, const float* weight, std::size_t n, float e,   \
                                    Value* out) {                                                  \
            rms_norm_body(x, weight, n, e, out);                                                   \
        }                                                                                          \
        TARGET static void swiglu(const float* tile, std::size_t n, Value* out, std::size_t s) {   \
            swiglu_body(tile, n, out, s);                                                          \
        }                                                                                          \
        TARGET static float softmax(float* x, std::size_t n, std::size_t padded, Value* out) {     \
            return softmax_body(x, n, padded, out);                                                \
        }                                                                                          \
        TARGET static void scale(const float* x, float factor, std::size_t n, Value* out) {        \
            scale_body(x, factor, n, out);                                                         \
        }                                                                                          \
        static constexpr column_functions<Value> all{&rms_norm, &swiglu, &softmax, &scale};        \
    }
SPECDEC_COLUMN_FUNCTIONS(portable_columns, );
#if defined(__x86_64__)
SPECDEC_COLUMN_FUNCTIONS(avx2_columns, [[gnu::target("avx2,fma")]]);
SPECDEC_COLUMN_FUNCTIONS(avx512_columns,
                         [[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]]);
#endif
#undef SPECDEC_COLUMN_FUNCTIONS

} // namespace detail

/// The functions of an instruction set that the CPU has (see best_isa).
template <PanelValue Value>
[[nodiscard]] const column_functions<Value>& column_functions_for(isa set) {
#if defined(__x86_64__)
    if (set >= isa::avx512)
        return detail::avx512_columns<Value>::all;
    if (set >= isa::avx2)
        return detail::avx2_columns<Value>::all;
#endif
    static_cast<void>(set);
    return detail::portable_columns<Value>::all;
}

} // namespace specdec::reference
