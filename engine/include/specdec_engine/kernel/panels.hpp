// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <concepts>
#include <cstddef>
#include <span>
#include <utility> // std::index_sequence

#include <specdec/core/contract.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp>
#include <specdec_engine/kernel/tile_kernel.hpp>
#include <specdec_engine/team/compiled_once.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

[[nodiscard]] constexpr std::size_t round_up(std::size_t n, std::size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

/// Activations and weights in the precision of the panels.
template <PanelValue Value>
[[nodiscard]] constexpr Value round_to(float value) {
    if constexpr (std::same_as<Value, float>)
        return value;
    else
        return round_to_bf16(value);
}

/// Position of (row, k) in a panel.
template <PanelValue Value>
[[nodiscard]] constexpr std::size_t panel_index(std::size_t row, std::size_t k) {
    if constexpr (std::same_as<Value, float>)
        return k * panel_rows + row;
    else
        return k / 2 * (2 * panel_rows) + row * 2 + k % 2;
}

/// Values of a row that are one piece of multiply_in_pieces.
inline constexpr std::size_t piece_length = 128;

/// A matrix [rows, columns] packed into panels of 32 rows; what is padded is zero. Borrows memory
/// of `footprint` values that must be zero (and aligned to 64 bytes) to begin with.
template <PanelValue Value>
class panel_matrix {
public:
    panel_matrix() = default;
    panel_matrix(Value* memory, std::size_t rows, std::size_t columns)
        : memory_(memory), rows_(rows), columns_(columns),
          length_(round_up(columns, length_multiple)) {}

    /// Values that the packed matrix takes.
    [[nodiscard]] static constexpr std::size_t footprint(std::size_t rows, std::size_t columns) {
        return round_up(rows, panel_rows) * round_up(columns, length_multiple);
    }

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    /// Columns with padding: the length of an input column.
    [[nodiscard]] std::size_t length() const { return length_; }
    [[nodiscard]] std::size_t panels() const { return round_up(rows_, panel_rows) / panel_rows; }
    [[nodiscard]] std::size_t bytes() const { return footprint(rows_, columns_) * sizeof(Value); }
    [[nodiscard]] const Value* panel(std::size_t i) const {
        return memory_ + i * panel_rows * length_;
    }
    [[nodiscard]] std::span<const std::byte> panel_bytes(std::size_t i) const {
        return std::as_bytes(std::span(panel(i), panel_rows * length_));
    }

    /// Packs one row; rows of different panels may be written by different threads.
    void write_row(std::size_t row, std::span<const float> values) {
        SPECDEC_PRECONDITION(row < rows_ && values.size() == columns_);
        Value* panel = memory_ + row / panel_rows * panel_rows * length_;
        for (std::size_t k = 0; k < columns_; ++k)
            panel[panel_index<Value>(row % panel_rows, k)] = round_to<Value>(values[k]);
    }
    /// Packs a row of another matrix of as many columns.
    void copy_row(std::size_t row, const panel_matrix& from, std::size_t its_row) {
        SPECDEC_PRECONDITION(row < rows_ && its_row < from.rows_ && columns_ == from.columns_);
        Value* to = memory_ + row / panel_rows * panel_rows * length_;
        const Value* at = from.panel(its_row / panel_rows);
        for (std::size_t k = 0; k < columns_; ++k)
            to[panel_index<Value>(row % panel_rows, k)] =
                at[panel_index<Value>(its_row % panel_rows, k)];
    }
    /// Unpacks one row.
    void read_row(std::size_t row, std::span<float> values) const {
        SPECDEC_PRECONDITION(row < rows_ && values.size() == columns_);
        const Value* from = panel(row / panel_rows);
        for (std::size_t k = 0; k < columns_; ++k)
            values[k] = widen(from[panel_index<Value>(row % panel_rows, k)]);
    }

private:
    Value* memory_ = nullptr;
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;
    std::size_t length_ = 0;
};

/// The kernels of an instruction set the CPU has (best_isa); what F32 has no use for is AVX-512.
template <PanelValue Value>
[[nodiscard]] panel_kernels<Value> panel_kernels_for(isa set) {
    return [set]<std::size_t... C>(std::index_sequence<C...>) -> panel_kernels<Value> {
        // Kernels of several columns that do not hold all rows of a panel fetch its pieces
        // themselves.
        const std::size_t alone = !streams_need_fetching() ? 0
                                  : set >= isa::avx512     ? tile_columns
                                                           : 1;
#if defined(__x86_64__)
        if constexpr (std::same_as<Value, bf16_bits>)
            if (set >= isa::avx512_bf16)
                return {{&detail::multiply_avx512_bf16<Value, C + 1>...},
                        name(set),
                        alone,
                        set == isa::amx ? &detail::multiply_by_tiles<hardware_tiles> : nullptr};
        if (set >= isa::avx512)
            return {{&detail::multiply_avx512<Value, C + 1>...}, name(isa::avx512), alone};
        if (set >= isa::avx2)
            return {{&detail::multiply_avx2<Value, C + 1>...}, name(isa::avx2), alone};
#endif
        static_cast<void>(set);
        return {{&detail::multiply_portable<Value, C + 1>...}, name(isa::portable), alone};
    }(std::make_index_sequence<tile_columns>{});
}

/// One panel times any number of columns, up to six at a time, or up to 16 by tiles:
/// use(first column, columns, y) receives y[column][32].
/// From the second tile on the panel comes from the cache and memory would rest: each of several
/// tiles fetches its part of `next`, the panel behind this one or nothing. One tile alone leaves it
/// to the processor, unless its kernels say otherwise (fetching_alone). Tiles fetch nothing: it
/// made their passes 5 % longer.
template <PanelValue Value, class Use>
void multiply_panel(const panel_kernels<Value>& kernels, const Value* panel, std::size_t length,
                    const Value* x, std::size_t stride, std::size_t columns, const Use& use,
                    std::span<const std::byte> next = {}) {
    alignas(64) float y[tile_positions * panel_rows];
    const bool by_tiles = kernels.by_tiles != nullptr;
    const std::size_t most = by_tiles ? tile_positions : tile_columns;
    const bool alone = columns <= most;
    if (alone && columns > kernels.fetching_alone)
        next = {};
    for (std::size_t first = 0; first < columns;) {
        const std::size_t left = columns - first;
        const std::size_t tiles = (left + most - 1) / most;
        const std::size_t now = (left + tiles - 1) / tiles; // 7 columns: 4 and 3, not 6 and 1
        const std::span<const std::byte> part = next.first(next.size() / tiles);
        next = next.subspan(part.size());
        if (by_tiles)
            kernels.by_tiles(panel, length, x + first * stride, stride, now, y);
        else
            kernels.by_columns[now - 1](panel, length, x + first * stride, stride, y,
                                        fetch_ahead(part, alone ? 2 : 1), false);
        use(first, now, static_cast<const float*>(y));
        first += now;
    }
}

template <PanelValue Value, class Use>
void multiply_panel(const panel_kernels<Value>& kernels, const panel_matrix<Value>& w,
                    std::size_t panel, const Value* x, std::size_t stride, std::size_t columns,
                    const Use& use, std::span<const std::byte> next = {}) {
    multiply_panel(kernels, w.panel(panel), w.length(), x, stride, columns, use, next);
}

/// A piece of a panel and of the columns it is multiplied with, and the next one's memory.
template <PanelValue Value>
struct panel_piece {
    const Value* panel;
    const Value* x;
    std::size_t stride;
    std::span<const std::byte> next{};
};

/// One long panel times any number of columns, a piece after the other, each for all columns:
/// memory is read once. piece(first, n) gives n of the `length` values of a row. Adds to the sums
/// of each column and row, [columns][2][32], whose own sum is what multiply_panel gives, bit for
/// bit, where there are no tiles.
template <PanelValue Value, class Piece>
void multiply_in_pieces(const panel_kernels<Value>& kernels, std::size_t length,
                        std::size_t columns, const Piece& piece, float* sums) {
    const std::size_t tiles = (columns + tile_columns - 1) / tile_columns;
    for (std::size_t k = 0; k < length; k += piece_length) {
        const std::size_t n = std::min(piece_length, length - k);
        const panel_piece<Value> at = piece(k, n);
        for (std::size_t t = 0; t < tiles; ++t) {
            const std::size_t c = t * columns / tiles, end = (t + 1) * columns / tiles;
            const std::size_t share = at.next.size() / tiles;
            kernels.by_columns[end - c - 1](at.panel, n, at.x + c * at.stride, at.stride,
                                            sums + c * 2 * panel_rows,
                                            fetch_ahead(at.next.subspan(t * share, share)), true);
        }
    }
}

/// y = W x for a share of W's panels: use(first row, first column, columns, y tile). x is
/// [columns][stride], stride >= W.length(), padded with zeros.
template <PanelValue Value, class Use>
void multiply(const panel_kernels<Value>& kernels, const panel_matrix<Value>& w, pool_share panels,
              const Value* x, std::size_t stride, std::size_t columns, const Use& use) {
    for (std::size_t p = panels.begin; p < panels.end; ++p)
        multiply_panel(
            kernels, w, p, x, stride, columns,
            [&](std::size_t first, std::size_t n, const float* y) {
                use(p * panel_rows, first, n, y);
            },
            p + 1 < panels.end ? w.panel_bytes(p + 1) : std::span<const std::byte>());
}

SPECDEC_ONCE(panel_kernels<float> panel_kernels_for(isa));
SPECDEC_ONCE(panel_kernels<bf16_bits> panel_kernels_for(isa));

} // namespace specdec::engine
