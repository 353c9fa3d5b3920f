// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::fill_n
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <string_view>

#include <specdec/core/contract.hpp>
#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/numbers.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp> // panel_rows
#include <specdec_engine/kernel/quantised_column.hpp>
#include <specdec_engine/kernel/quantised_panels.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#if defined(__x86_64__)
#include <specdec_engine/kernel/quantised_kernel_x86.hpp>
#endif

/// Products of quantised panels (quantised_panels.hpp) and quantised columns: of a block with
/// weights d n + m, whose numbers n are unsigned, and inputs s i,
///
///     y += (sum of n i - offset sum of i) (d s) + m (s sum of i)
///
/// The sums are whole numbers, so they are exact in any order; what is added to y is rounded the
/// same way by every kernel, and blocks go in one order. So each (row, column) sum is the same bit
/// for bit whatever stands beside it, and with all instructions.
namespace specdec::engine {

/// y[c][row] = sum over k of panel(row, k) x[c][k]; y is [columns][32], x has `stride` blocks a
/// column, of which `blocks` count. A block of the panel is unpacked once for all columns.
using quantised_kernel = void (*)(const std::byte* panel, std::size_t blocks, const q8_block* x,
                                  std::size_t stride, std::size_t columns, float* y);

/// The kernels of one instruction set.
struct quantised_kernels {
    quantised_kernel q8_0, q4_0, q4_1;
    std::string_view name; ///< for statistics

    [[nodiscard]] quantised_kernel of(dtype type) const {
        return type == dtype::q8_0 ? q8_0 : type == dtype::q4_0 ? q4_0 : q4_1;
    }
};

namespace detail {

/// Groups of four numbers of four rows into the rows of w.
template <std::int16_t Offset, class Bytes>
[[gnu::always_inline]] inline void unpack_groups(const Bytes& bytes, std::int16_t* w) {
    using shorts [[gnu::vector_size(2 * sizeof(Bytes))]] = std::int16_t;
    const shorts n = __builtin_convertvector(bytes, shorts) - Offset;
    for (std::size_t r = 0; r < 4; ++r)
        std::memcpy(w + r * quantised_values, reinterpret_cast<const char*>(&n) + 8 * r, 8);
}

template <dtype Type>
void multiply_quantised_portable(const std::byte* panel, std::size_t blocks, const q8_block* x,
                                 std::size_t stride, std::size_t columns, float* y) {
    using bytes [[gnu::vector_size(16)]] = std::uint8_t;
    constexpr quantised_block_layout layout(Type);
    constexpr auto offset = static_cast<std::int16_t>(quantised_offset(Type));
    std::fill_n(y, columns * panel_rows, 0.0F);
    for (std::size_t b = 0; b < blocks; ++b, panel += layout.bytes) {
        std::int16_t w[panel_rows][quantised_values];
        float scale[panel_rows], minimum[panel_rows];
        for (std::size_t r = 0; r < panel_rows; r += 4) {
            widen_halves(panel + 2 * r, scale + r);
            if constexpr (Type == dtype::q4_1)
                widen_halves(panel + layout.minima + 2 * r, minimum + r);
            for (std::size_t i = 0; i < (Type == dtype::q8_0 ? 8 : 4); ++i) {
                bytes four;
                std::memcpy(&four, panel + layout.numbers + 4 * (panel_rows * i + r), sizeof four);
                if constexpr (Type == dtype::q8_0) {
                    unpack_groups<offset>(four, w[r] + 4 * i);
                } else {
                    unpack_groups<offset, bytes>(four & 15, w[r] + 4 * i);
                    unpack_groups<offset, bytes>(four >> 4, w[r] + 4 * i + 16);
                }
            }
        }
        for (std::size_t c = 0; c < columns; ++c) {
            const q8_block& at = x[c * stride + b];
            std::int16_t in[quantised_values];
            for (std::size_t k = 0; k < quantised_values; ++k)
                in[k] = at.values[k];
            std::int32_t dots[panel_rows];
            for (std::size_t r = 0; r < panel_rows; ++r) {
                std::int32_t dot = 0;
                for (std::size_t k = 0; k < quantised_values; ++k)
                    dot += w[r][k] * in[k];
                dots[r] = dot;
            }
            add_block<Type == dtype::q4_1, 4>(dots, 0, scale, minimum, at, y + c * panel_rows);
        }
    }
}

} // namespace detail

/// The kernels of an instruction set the CPU has (see best_isa).
[[nodiscard]] inline quantised_kernels quantised_kernels_for(isa set) {
    using enum dtype;
#if defined(__x86_64__)
    if (set >= isa::avx512_vnni)
        return {&detail::multiply_quantised_avx512_vnni<q8_0>,
                &detail::multiply_quantised_avx512_vnni<q4_0>,
                &detail::multiply_quantised_avx512_vnni<q4_1>, name(isa::avx512_vnni)};
    if (set == isa::avx_vnni)
        return {&detail::multiply_quantised_avx2<q8_0, true>,
                &detail::multiply_quantised_avx2<q4_0, true>,
                &detail::multiply_quantised_avx2<q4_1, true>, name(isa::avx_vnni)};
    if (set >= isa::avx2)
        return {&detail::multiply_quantised_avx2<q8_0, false>,
                &detail::multiply_quantised_avx2<q4_0, false>,
                &detail::multiply_quantised_avx2<q4_1, false>, name(isa::avx2)};
#endif
    static_cast<void>(set);
    return {&detail::multiply_quantised_portable<q8_0>, &detail::multiply_quantised_portable<q4_0>,
            &detail::multiply_quantised_portable<q4_1>, name(isa::portable)};
}

/// One panel times any number of columns: use(first column, columns, y) receives y[column][32].
template <class Use>
void multiply_panel(const quantised_kernels& kernels, const quantised_matrix& w, std::size_t panel,
                    const q8_block* x, std::size_t stride, std::size_t columns, const Use& use) {
    alignas(64) float y[quantised_columns * panel_rows];
    const quantised_kernel kernel = kernels.of(w.type());
    for (std::size_t first = 0; first < columns;) {
        const std::size_t left = columns - first;
        const std::size_t tiles = (left + quantised_columns - 1) / quantised_columns;
        const std::size_t now = (left + tiles - 1) / tiles; // 18 columns: 9 and 9
        kernel(w.panel(panel), w.length(), x + first * stride, stride, now, y);
        use(first, now, static_cast<const float*>(y));
        first += now;
    }
}

/// y = W x for a share of W's panels: use(first row, first column, columns, y tile). x is
/// [columns][stride], stride >= W.length().
template <class Use>
void multiply(const quantised_kernels& kernels, const quantised_matrix& w, pool_share panels,
              const q8_block* x, std::size_t stride, std::size_t columns, const Use& use) {
    for (std::size_t p = panels.begin; p < panels.end; ++p)
        multiply_panel(kernels, w, p, x, stride, columns,
                       [&](std::size_t first, std::size_t n, const float* y) {
                           use(p * panel_rows, first, n, y);
                       });
}

} // namespace specdec::engine
