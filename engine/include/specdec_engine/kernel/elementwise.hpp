// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::fill, std::max
#include <cmath>
#include <cstddef>
#include <cstring> // std::memcpy

#include <Eigen/Core>

#include <specdec_engine/kernel/lines.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp> // SPECDEC_UNROLL
#include <specdec_engine/kernel/panels.hpp>

/// What a transformer does to single positions: RMSNorm, SwiGLU, softmax. Every function sees one
/// column at a time, in whole lines of 16 values, so that a result depends on neither the grouping
/// of positions nor their addresses. (Eigen's vector and scalar exp differ in the last bit, and its
/// instructions are fixed when a program is compiled; these are chosen with the kernel's.)
namespace specdec::engine {

/// Columns start on cache lines and are padded with zeros to whole ones.
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
    /// The same with gelu(z) = z / (1 + exp(-2u)), u = sqrt(2 / pi) (z + 0.044715 z^3).
    void (*geglu)(const float* tile, std::size_t columns, Value* out, std::size_t stride);
    /// Turns the first n scores into exp(score - greatest), rounded to Value, and the rest of
    /// `padded` (whole lines) into zeros. Returns 1 / the sum of the exponentials.
    float (*softmax)(float* scores, std::size_t n, std::size_t padded, Value* out);
    /// Rounds n values times a factor; x is readable to the end of its last line.
    void (*scale)(const float* x, float factor, std::size_t n, Value* out);
};

namespace detail {

using line = line_part<line_values>::floats;
using line_bits = line_part<line_values>::bits;
using line_ints = line_part<line_values>::ints;
using line_halves = line_part<line_values>::halves;

/// The functions, of registers of so many lanes.
template <std::size_t Lanes>
struct column_bodies {
    using floats = typename line_part<Lanes>::floats;
    static constexpr std::size_t parts = line_values / Lanes;

    template <class Value>
    [[gnu::always_inline]] static void rms_norm(const float* x, const float* weight, std::size_t n,
                                                float epsilon, Value* out) {
        floats squares[parts] = {};
        for (std::size_t i = 0; i < n; i += line_values)
            SPECDEC_UNROLL
        for (std::size_t p = 0; p < parts; ++p) {
            floats v;
            load(v, x + i + p * Lanes);
            add_product(squares[p], v, v);
        }
        const float scale = 1.0F / std::sqrt(total(squares) / static_cast<float>(n) + epsilon);
        for (std::size_t i = 0; i < round_up(n, line_values); i += Lanes) {
            floats v, w;
            load(v, x + i);
            load(w, weight + i);
            store_rounded(w * (v * scale), out + i);
        }
    }

    /// What silu's or gelu's exponential is taken of.
    template <bool Gelu>
    [[gnu::always_inline]] static void exponent(const floats& gate, floats& e) {
        if constexpr (Gelu) {
            e = gate * gate;
            scale_and_add(e, floats{} + 0.044715F, floats{} + 1.0F);
            e = gate * e * -1.59576912F; // -2 sqrt(2 / pi)
        } else {
            e = -gate;
        }
    }

    template <bool Gelu, class Value>
    [[gnu::always_inline]] static void gated(const float* tile, std::size_t columns, Value* out,
                                             std::size_t stride) {
        for (std::size_t c = 0; c < columns; ++c, tile += panel_rows, out += stride)
            for (std::size_t i = 0; i < line_values; i += Lanes) {
                floats gate, up, e;
                load(gate, tile + i);
                load(up, tile + line_values + i);
                exponent<Gelu>(gate, e);
                exponential(e);
                store_rounded(gate / (1.0F + e) * up, out + i);
            }
    }

    template <class Value>
    [[gnu::always_inline]] static float softmax(float* scores, std::size_t n, std::size_t padded,
                                                Value* out) {
        const std::size_t whole = round_up(n, line_values);
        for (std::size_t i = n; i < whole; ++i)
            scores[i] = scores[0];
        floats greatest;
        load(greatest, scores);
        for (std::size_t i = Lanes; i < whole; i += Lanes) {
            floats v;
            load(v, scores + i);
            greatest = v > greatest ? v : greatest;
        }
        float top = greatest[0];
        for (std::size_t i = 1; i < Lanes; ++i)
            top = greatest[i] > top ? greatest[i] : top;
        floats sum[parts] = {};
        for (std::size_t i = 0; i < whole; i += line_values)
            SPECDEC_UNROLL
        for (std::size_t p = 0; p < parts; ++p) {
            floats v;
            load(v, scores + i + p * Lanes);
            v -= top;
            exponential(v);
            keep_first(v, n - i, p * Lanes);
            sum[p] += v;
            store_rounded(v, out + i + p * Lanes);
        }
        std::fill(out + whole, out + std::max(whole, padded), Value{});
        return 1.0F / total(sum);
    }

    template <class Value>
    [[gnu::always_inline]] static void scale(const float* x, float factor, std::size_t n,
                                             Value* out) {
        for (std::size_t i = 0; i < n; i += Lanes) {
            floats v;
            load(v, x + i);
            if (n - i >= Lanes) {
                store_rounded(v * factor, out + i);
            } else {
                Value last[Lanes];
                store_rounded(v * factor, last);
                std::memcpy(out + i, last, (n - i) * sizeof(Value));
            }
        }
    }
};

// These, compiled for one instruction set.
#define SPECDEC_COLUMN_FUNCTIONS(SET, LANES, TARGET)                                               \
    template <class Value>                                                                         \
    struct SET {                                                                                   \
        using body = column_bodies<LANES>;                                                         \
        TARGET static void rms_norm(const float* x, const float* weight, std::size_t n, float e,   \
                                    Value* out) {                                                  \
            body::rms_norm(x, weight, n, e, out);                                                  \
        }                                                                                          \
        TARGET static void swiglu(const float* tile, std::size_t n, Value* out, std::size_t s) {   \
            body::template gated<false>(tile, n, out, s);                                          \
        }                                                                                          \
        TARGET static void geglu(const float* tile, std::size_t n, Value* out, std::size_t s) {    \
            body::template gated<true>(tile, n, out, s);                                           \
        }                                                                                          \
        TARGET static float softmax(float* x, std::size_t n, std::size_t padded, Value* out) {     \
            return body::softmax(x, n, padded, out);                                               \
        }                                                                                          \
        TARGET static void scale(const float* x, float factor, std::size_t n, Value* out) {        \
            body::scale(x, factor, n, out);                                                        \
        }                                                                                          \
        static constexpr column_functions<Value> all{&rms_norm, &swiglu, &geglu, &softmax,         \
                                                     &scale};                                      \
    }
SPECDEC_COLUMN_FUNCTIONS(portable_columns, 4, );
#if defined(__x86_64__)
SPECDEC_COLUMN_FUNCTIONS(avx2_columns, 8, [[gnu::target("avx2,fma")]]);
SPECDEC_COLUMN_FUNCTIONS(avx512_columns, 16,
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

} // namespace specdec::engine
