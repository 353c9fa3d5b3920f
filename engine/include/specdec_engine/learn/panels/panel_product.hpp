// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::clamp, std::min
#include <concepts>
#include <cstddef>
#include <string_view>
#include <vector>

#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/elementwise.hpp> // line_values
#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp>
#include <specdec_engine/kernel/panels.hpp>
#include <specdec_engine/learn/panels/pack_words.hpp>
#include <specdec_engine/learn/panels/product_numbers.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

/// The memory of a product: element (i, j) at data[i row + j column].
struct product_result {
    float* data;
    std::size_t row, column;
};

/// Products of matrices in F32 through the kernels that decode: C = A B, or C + A B. Panels of 32
/// rows of A and columns of B are packed while it runs, in the numbers asked for:
///
///     c(i, j) = sum over blocks of 1,024 k, in their order, of  sum over k of a(i, k) b(k, j)
///
/// Each element is one thread's and its sum has one order: a result does not depend on the number
/// of threads, nor an element on how many columns there are. Rounding (bf16): each factor by half a
/// unit in its last place, 2^-9. Memory: a block a thread, and B where it has to be packed; it
/// grows to the largest product. One product at a time.
template <PanelValue Value>
class panel_product {
public:
    /// What the CPU lacks is not used.
    explicit panel_product(isa instructions = isa::amx)
        : panel_product(panel_kernels_for<Value>(usable(instructions)), instructions) {}
    /// Kernels of one's own.
    panel_product(const panel_kernels<Value>& kernels, isa instructions)
        : kernels_(kernels), pack_(pack_functions_for<Value>(usable(instructions))) {}

    /// The kernels' name.
    [[nodiscard]] std::string_view kernel() const { return kernels_.name; }

    /// A [rows, length], B [length, columns]. Complexity: 2 rows length columns. Precondition: the
    /// result is other memory than the factors.
    void run(thread_pool& team, const product_factor& a, std::size_t rows, const product_factor& b,
             std::size_t columns, std::size_t length, const product_result& c, bool add) {
        const ready_columns right = prepare(team, b, columns, length);
        if (blocks_.size() < team.size())
            blocks_.resize(team.size());
        const std::size_t panels = (rows + panel_rows - 1) / panel_rows;
        const std::size_t group = kernels_.by_tiles != nullptr ? tile_positions : tile_columns;
        const std::size_t groups = (columns + group - 1) / group;
        // Few panels: their columns are shared out, too.
        const std::size_t parts =
            team.size() == 1 || panels == 0
                ? 1
                : std::clamp<std::size_t>(4 * team.size() / panels, 1, std::max(groups, one));
        const std::size_t part = (groups + parts - 1) / parts * group;
        team.run(panels * parts, 1, [&](pool_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i) {
                const std::size_t row = i / parts * panel_rows, first = i % parts * part;
                if (first < columns)
                    multiply({a.data + row * a.across, a.along, a.across},
                             std::min(panel_rows, rows - row), right, first,
                             std::min(columns, first + part), length,
                             {c.data + row * c.row, c.row, c.column}, add, s.member);
            }
        });
    }

private:
    static constexpr std::size_t block = 1024; ///< along the sum: a panel of it stays in a cache
    static constexpr std::size_t one = 1;

    struct ready_columns {
        const Value* data;
        std::size_t stride;
    };

    ready_columns prepare(thread_pool& team, const product_factor& b, std::size_t columns,
                          std::size_t length) {
        if constexpr (std::same_as<Value, float>)
            if (b.along == 1 && length % length_multiple == 0)
                return {b.data, b.across};
        const std::size_t stride = round_up(length, length_multiple);
        if (columns_.size() < columns * stride)
            columns_.resize(columns * stride);
        team.run(columns, 16, [&](pool_share s) {
            pack_.columns({b.data + s.begin * b.across, b.along, b.across}, s.end - s.begin, length,
                          columns_.data() + s.begin * stride, stride);
        });
        return {columns_.data(), stride};
    }

    void multiply(const product_factor& a, std::size_t rows, const ready_columns& b,
                  std::size_t first, std::size_t last, std::size_t length, const product_result& c,
                  bool add, std::size_t member) {
        aligned_vector<Value>& panel = blocks_[member];
        if (panel.size() < panel_rows * block)
            panel.resize(panel_rows * block);
        for (std::size_t k = 0; k < length; k += block) {
            const std::size_t n = std::min(block, length - k);
            pack_.panel({a.data + k * a.along, a.along, a.across}, rows, n, panel.data());
            const bool adds = add || k > 0;
            const auto use = [&](std::size_t j, std::size_t wide, const float* y) {
                const std::size_t at = first + j;
                if (adds)
                    fetch(c, rows, at + wide, std::min(at + 2 * wide, last));
                write(y, rows, wide, {c.data + at * c.column, c.row, c.column}, adds);
            };
            multiply_panel(kernels_, panel.data(), round_up(n, length_multiple),
                           b.data + first * b.stride + k, b.stride, last - first, use);
        }
        if (length == 0 && !add)
            for (std::size_t j = first; j < last; ++j)
                for (std::size_t i = 0; i < rows; ++i)
                    c.data[i * c.row + j * c.column] = 0;
    }

    /// Columns of the result that the next tile is added to: read while that is computed.
    static void fetch(const product_result& c, std::size_t rows, std::size_t first,
                      std::size_t last) {
        for (std::size_t j = first; c.row == 1 && j < last; ++j)
            for (std::size_t i = 0; i < rows; i += line_values)
                __builtin_prefetch(c.data + i + j * c.column, 1);
    }

    static void write(const float* tile, std::size_t rows, std::size_t columns,
                      const product_result& c, bool add) {
        const auto each = [&](auto&& put) {
            if (c.row == 1)
                for (std::size_t j = 0; j < columns; ++j)
                    for (std::size_t i = 0; i < rows; ++i)
                        put(c.data[i + j * c.column], tile[j * panel_rows + i]);
            else
                for (std::size_t i = 0; i < rows; ++i)
                    for (std::size_t j = 0; j < columns; ++j)
                        put(c.data[i * c.row + j * c.column], tile[j * panel_rows + i]);
        };
        if (add)
            each([](float& to, float x) { to += x; });
        else
            each([](float& to, float x) { to = x; });
    }

    panel_kernels<Value> kernels_;
    pack_functions<Value> pack_;
    aligned_vector<Value> columns_;             ///< B, packed
    std::vector<aligned_vector<Value>> blocks_; ///< [threads] a panel of a block
};

} // namespace specdec::engine
