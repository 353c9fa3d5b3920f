// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy

#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/panels.hpp>

/// Factors of a product, from F32 as learning has them to what the panel kernels read. These see 32
/// bits as one word: an F32, or two neighbours of BF16. A panel is [words][32 rows], a column
/// [words]; what is padded is zero.
namespace specdec::engine {

/// A matrix in F32: neighbours along the sum of the product, and across it, lie so far apart. One
/// of the two is 1.
struct product_factor {
    const float* data;
    std::size_t along, across;
};

namespace pack_words_detail {

using detail::line;
using detail::line_bits;
inline constexpr std::size_t lanes = line_values;
template <PanelValue Value>
inline constexpr std::size_t word_values = sizeof(std::uint32_t) / sizeof(Value);

/// The first n of 16 numbers, zeros behind them.
[[gnu::always_inline]] inline void load(line& to, const float* from, std::size_t n) {
    if (n >= lanes)
        return detail::load(to, from);
    float some[lanes] = {};
    for (std::size_t i = 0; i < n; ++i)
        some[i] = from[i];
    detail::load(to, some);
}

/// Word w of n (at most 16) neighbours across the sum; `length` numbers along it.
template <class Value>
[[gnu::always_inline]] inline void words_across(const product_factor& f, std::size_t w,
                                                std::size_t length, std::size_t n, line_bits& to) {
    line low, high = {};
    if constexpr (word_values<Value> == 1) {
        load(low, f.data + w * f.along, w < length ? n : 0);
        to = reinterpret_cast<line_bits>(low);
    } else {
        line_bits even, odd;
        load(low, f.data + 2 * w * f.along, 2 * w < length ? n : 0);
        if (2 * w + 1 < length)
            load(high, f.data + (2 * w + 1) * f.along, n);
        detail::round_line(low, even);
        detail::round_line(high, odd);
        to = even >> 16 | (odd & 0xFFFF0000U);
    }
}
/// 16 words of one row of numbers that lie one behind the other, n of them.
template <class Value>
[[gnu::always_inline]] inline void words_along(const float* row, std::size_t n, std::uint32_t* to) {
    line x;
    if constexpr (word_values<Value> == 1) {
        load(x, row, n);
        std::memcpy(to, &x, sizeof x);
    } else {
        for (std::size_t part = 0; part < 2; ++part) {
            bf16_bits rounded[lanes];
            load(x, row + part * lanes, n > part * lanes ? n - part * lanes : 0);
            detail::store_rounded(x, rounded);
            std::memcpy(to + part * lanes / 2, rounded, sizeof rounded);
        }
    }
}

/// 32 rows (or fewer) as a panel.
template <class Value>
[[gnu::always_inline]] inline void panel_body(const product_factor& f, std::size_t rows,
                                              std::size_t length, std::uint32_t* to) {
    const std::size_t words = round_up(length, length_multiple) / word_values<Value>;
    if (f.across == 1) {
        for (std::size_t w = 0; w < words; ++w)
            for (std::size_t first = 0; first < panel_rows; first += lanes) {
                line_bits both;
                const product_factor from{f.data + first, f.along, 1};
                words_across<Value>(from, w, length, rows > first ? rows - first : 0, both);
                std::memcpy(to + w * panel_rows + first, &both, sizeof both);
            }
        return;
    }
    std::uint32_t square[panel_rows][lanes];
    for (std::size_t first = 0; first < words; first += lanes) {
        const std::size_t begin = first * word_values<Value>;
        for (std::size_t r = 0; r < panel_rows; ++r)
            words_along<Value>(f.data + (r < rows ? r * f.across + begin : 0),
                               r < rows && length > begin ? length - begin : 0, square[r]);
        const std::size_t n = std::min(lanes, words - first);
        for (std::size_t w = 0; w < n; ++w)
            for (std::size_t r = 0; r < panel_rows; ++r)
                to[(first + w) * panel_rows + r] = square[r][w];
    }
}
/// n columns, each `stride` words behind the one before.
template <class Value>
[[gnu::always_inline]] inline void columns_body(const product_factor& f, std::size_t n,
                                                std::size_t length, std::uint32_t* to,
                                                std::size_t stride) {
    const std::size_t words = round_up(length, length_multiple) / word_values<Value>;
    std::uint32_t some[lanes];
    if (f.along == 1) {
        for (std::size_t c = 0; c < n; ++c)
            for (std::size_t first = 0; first < words; first += lanes) {
                const std::size_t begin = first * word_values<Value>;
                words_along<Value>(f.data + c * f.across + (length > begin ? begin : 0),
                                   length > begin ? length - begin : 0, some);
                std::memcpy(to + c * stride + first, some,
                            std::min(lanes, words - first) * sizeof(std::uint32_t));
            }
        return;
    }
    std::uint32_t square[lanes][lanes];
    for (std::size_t c = 0; c < n; c += lanes)
        for (std::size_t first = 0; first < words; first += lanes) {
            const std::size_t wide = std::min(lanes, n - c), high = std::min(lanes, words - first);
            for (std::size_t w = 0; w < high; ++w) {
                line_bits both;
                words_across<Value>({f.data + c, f.along, 1}, first + w, length, wide, both);
                std::memcpy(square[w], &both, sizeof both);
            }
            for (std::size_t i = 0; i < wide; ++i)
                for (std::size_t w = 0; w < high; ++w)
                    to[(c + i) * stride + first + w] = square[w][i];
        }
}

} // namespace pack_words_detail

/// Writes panels and columns, for one instruction set.
template <PanelValue Value>
struct pack_functions {
    /// Up to 32 rows as a panel of round_up(length, 4) numbers a row.
    void (*panel)(const product_factor& rows, std::size_t n, std::size_t length, Value* to);
    /// n columns of round_up(length, 4) numbers, `stride` (a multiple of 4) apart.
    void (*columns)(const product_factor& columns, std::size_t n, std::size_t length, Value* to,
                    std::size_t stride);
};

namespace pack_words_detail {

#define SPECDEC_PACK(NAME, TARGET)                                                                 \
    template <class Value>                                                                         \
    TARGET void panel_##NAME(const product_factor& f, std::size_t rows, std::size_t length,        \
                             Value* to) {                                                          \
        panel_body<Value>(f, rows, length, reinterpret_cast<std::uint32_t*>(to));                  \
    }                                                                                              \
    template <class Value>                                                                         \
    TARGET void columns_##NAME(const product_factor& f, std::size_t n, std::size_t length,         \
                               Value* to, std::size_t stride) {                                    \
        columns_body<Value>(f, n, length, reinterpret_cast<std::uint32_t*>(to),                    \
                            stride / word_values<Value>);                                          \
    }

SPECDEC_PACK(portable, )
#if defined(__x86_64__)
SPECDEC_PACK(avx2, [[gnu::target("avx2,fma")]])
SPECDEC_PACK(avx512, [[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]])
#endif
#undef SPECDEC_PACK

} // namespace pack_words_detail

/// Those of an instruction set that the CPU has (see best_isa).
template <PanelValue Value>
[[nodiscard]] pack_functions<Value> pack_functions_for(isa set) {
    using namespace pack_words_detail;
#if defined(__x86_64__)
    if (set >= isa::avx512)
        return {panel_avx512<Value>, columns_avx512<Value>};
    if (set >= isa::avx2)
        return {panel_avx2<Value>, columns_avx2<Value>};
#endif
    static_cast<void>(set);
    return {panel_portable<Value>, columns_portable<Value>};
}

} // namespace specdec::engine
