// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n, std::min
#include <concepts>  // std::same_as
#include <cstddef>
#include <span>

#include <specdec/interop/xtensor_containers.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/panels.hpp>

namespace specdec::engine {

/// The first `length` numbers of each of the first `rows` of every head, [layers, heads, rows,
/// length], as another block has them.
template <class Block>
void copy_rows(const Block& from, std::size_t rows, std::size_t length, Block& to) {
    for (std::size_t layer = 0; layer < from.shape(0); ++layer)
        for (std::size_t head = 0; head < from.shape(1); ++head)
            for (std::size_t row = 0; row < rows; ++row)
                std::copy_n(&from(layer, head, row, 0), length, &to(layer, head, row, 0));
}

/// Queries that a cache is read for together, at most.
inline constexpr std::size_t attention_queries = 48;

/// Keys and values of all positions, stored as panels so that attention uses the same kernel as
/// every other product: for a key/value head,
///
///     scores = K q   K [positions, head dimension]: a panel holds 32 positions
///     output = V p   V [head dimension, positions]: a panel holds 32 dimensions, its length grows
///
/// Shapes: keys [layers, heads, panels of positions, 32 * key length],
///         values [layers, heads, panels of dimensions, 32 * value length].
/// write() fills a position; the owner counts positions.
template <PanelValue Value>
class kv_cache {
public:
    using number = Value; ///< of queries, and in which products are computed
    using weight = Value; ///< of a position
    using node = Value;   ///< what node_rows keeps of a number

private:
    using block = xt::xtensor<Value, 4, xt::layout_type::row_major, aligned_allocator<Value>>;

public:
    kv_cache() = default;
    kv_cache(std::size_t layers, std::size_t heads, std::size_t head_dimension,
             std::size_t capacity, isa = isa::portable)
        : head_dimension_(head_dimension),
          keys_(block::from_shape({layers, heads, round_up(capacity, panel_rows) / panel_rows,
                                   panel_rows * key_length()})),
          values_(block::from_shape(
              {layers, heads, value_panels(), panel_rows * round_up(capacity, panel_rows)})) {
        keys_.fill(Value{});
        values_.fill(Value{});
    }

    [[nodiscard]] std::size_t key_length() const {
        return round_up(head_dimension_, length_multiple);
    }
    [[nodiscard]] std::size_t value_panels() const {
        return round_up(head_dimension_, panel_rows) / panel_rows;
    }
    /// The length of the value panels for n positions.
    [[nodiscard]] static std::size_t value_length(std::size_t n) {
        return round_up(n, length_multiple);
    }

    /// 32 positions of the keys, from position 32 * panel on.
    [[nodiscard]] const Value* keys(std::size_t layer, std::size_t head, std::size_t panel) const {
        return &keys_(layer, head, panel, 0);
    }
    /// 32 dimensions of the values, from dimension 32 * panel on.
    [[nodiscard]] const Value* values(std::size_t layer, std::size_t head,
                                      std::size_t panel) const {
        return &values_(layer, head, panel, 0);
    }

    /// Scores of 32 positions, the keys' panel, for n queries: [n][scores_stride].
    void score(const panel_kernels<Value>& kernels, std::size_t layer, std::size_t head,
               std::size_t panel, const Value* queries, std::size_t stride, std::size_t n,
               float* scores, std::size_t scores_stride) const {
        const bool last = panel + 1 == keys_.shape(2);
        multiply_panel(
            kernels, keys(layer, head, panel), key_length(), queries, stride, n,
            [&](std::size_t c, std::size_t columns, const float* y) {
                for (std::size_t i = 0; i < columns; ++i)
                    std::copy_n(y + i * panel_rows, panel_rows, scores + (c + i) * scores_stride);
            },
            std::as_bytes(std::span(keys(layer, head, panel + !last), panel_rows * key_length())));
    }
    /// 32 dimensions of the outputs, the values' panel: adds the positions from `first` up to those
    /// of a whole length behind `end`, which have weights (zeros behind `end`), to the sums of n
    /// rows of weights, [n][2][32] (multiply_in_pieces). Precondition: `first` is a whole length.
    void weigh(const panel_kernels<Value>& kernels, std::size_t layer, std::size_t head,
               std::size_t panel, std::size_t first, std::size_t end, const Value* weights,
               std::size_t stride, std::size_t n, float* sums) const {
        const Value* const all = values(layer, head, panel) + first * panel_rows;
        const std::size_t length = value_length(end) - first;
        multiply_in_pieces(
            kernels, length, n,
            [&](std::size_t k, std::size_t here) -> panel_piece<Value> {
                const std::size_t next = std::min(piece_length, length - k - here);
                return {all + k * panel_rows, weights + first + k, stride,
                        std::as_bytes(std::span(all + (k + here) * panel_rows, next * panel_rows))};
            },
            sums);
    }

    /// Stores one position of one head: numbers, or what is kept of them.
    template <class Number>
    void write(std::size_t layer, std::size_t head, std::size_t position, const Number* key,
               const Number* value) {
        Value* to_key = &keys_(layer, head, position / panel_rows, 0);
        const std::size_t row = position % panel_rows;
        for (std::size_t d = 0; d < head_dimension_; ++d)
            to_key[panel_index<Value>(row, d)] = kept(key[d]);
        for (std::size_t first = 0; first < head_dimension_; first += panel_rows) {
            Value* to_value = &values_(layer, head, first / panel_rows, 0);
            const std::size_t here = std::min(panel_rows, head_dimension_ - first);
            for (std::size_t d = 0; d < here; ++d)
                to_value[panel_index<Value>(d, position)] = kept(value[first + d]);
        }
    }
    /// The first n positions become another cache's, of the same shapes.
    void copy_prefix(const kv_cache& from, std::size_t n) {
        copy_rows(from.keys_, round_up(n, panel_rows) / panel_rows, keys_.shape(3), keys_);
        copy_rows(from.values_, value_panels(), value_length(n) * panel_rows, values_);
    }
    /// Clears the values behind position n up to a whole length: attention multiplies them by zero,
    /// and they must not be infinities left by truncated tokens.
    void clear_behind(std::size_t layer, std::size_t head, std::size_t n) {
        for (std::size_t p = n; p < value_length(n); ++p)
            for (std::size_t d = 0; d < head_dimension_; ++d)
                (&values_(layer, head, d / panel_rows, 0))[panel_index<Value>(d % panel_rows, p)] =
                    Value{};
    }

    /// What is kept of a number.
    template <class Number>
    [[nodiscard]] static Value kept(Number x) {
        if constexpr (std::same_as<Number, Value>)
            return x;
        else
            return round_to<Value>(x);
    }

private:
    std::size_t head_dimension_ = 0;
    block keys_;
    block values_;
};

} // namespace specdec::engine
