// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min, std::max
#include <concepts>
#include <cstddef>
#include <utility> // std::move

#include <Eigen/Core>

#if __has_include(<xtensor/views/xview.hpp>) // since 0.26
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xview.hpp>
#endif

#include <specdec/interop/xtensor_containers.hpp>
#include <specdec/reference/transformer_config.hpp>
#include <specdec/reference/transformer_weights.hpp>

namespace specdec::reference {

/// The axes of a KV cache, outermost first.
enum cache_axis : std::size_t {
    axis_layer,
    axis_side, ///< cache_side
    axis_row,  ///< tokens of the context by position, then nodes of a tree by number
    axis_kv_head,
    axis_head_dimension,
    cache_axes ///< how many there are
};
enum class cache_side : std::size_t { key, value };

/// The keys, rotated, and values of one sequence, in all layers.
///
/// Allocates where more rows are reserved than ever before.
template <std::floating_point Scalar>
class key_value_cache {
public:
    using tensor = xt::xtensor<Scalar, cache_axes>;

    /// Room for at most `capacity` rows.
    key_value_cache(const transformer_config& c, std::size_t capacity)
        : capacity_(capacity),
          numbers_(tensor::from_shape({c.layers, 2, 0, c.kv_heads, c.head_dimension})) {}

    [[nodiscard]] const tensor& numbers() const { return numbers_; }

    /// Makes room for n rows. Pre: n <= capacity.
    void reserve(std::size_t n) {
        const std::size_t before = numbers_.shape(axis_row);
        if (n <= before)
            return;
        auto shape = numbers_.shape();
        shape[axis_row] = std::min(capacity_, std::max(n, 2 * before));
        tensor grown(shape, Scalar(0));
        xt::view(grown, xt::all(), xt::all(), xt::range(std::size_t{0}, before)) = numbers_;
        numbers_ = std::move(grown);
    }

    /// n rows from row `first` on, all heads side by side. Shape: n x G e.
    [[nodiscard]] auto rows(std::size_t layer, cache_side side, std::size_t first, std::size_t n) {
        return Eigen::Map<matrix<Scalar>>(at(numbers_, layer, side, first, 0), index(n),
                                          index(row_width()));
    }
    /// The first m rows of one head. Shape: m x e.
    [[nodiscard]] auto head(std::size_t layer, cache_side side, std::size_t kv_head,
                            std::size_t m) const {
        return Eigen::Map<const matrix<Scalar>, 0, Eigen::OuterStride<>>(
            at(numbers_, layer, side, 0, kv_head), index(m),
            index(numbers_.shape(axis_head_dimension)), Eigen::OuterStride<>(index(row_width())));
    }

    /// Copies one row to the place of another, in all layers.
    void copy_row(std::size_t from, std::size_t to) {
        xt::view(numbers_, xt::all(), xt::all(), to) =
            xt::view(numbers_, xt::all(), xt::all(), from);
    }

private:
    [[nodiscard]] static auto at(auto& numbers, std::size_t layer, cache_side side, std::size_t row,
                                 std::size_t kv_head) {
        return &numbers(layer, static_cast<std::size_t>(side), row, kv_head, std::size_t{0});
    }
    [[nodiscard]] std::size_t row_width() const {
        return numbers_.shape(axis_kv_head) * numbers_.shape(axis_head_dimension);
    }

    std::size_t capacity_;
    tensor numbers_;
};

} // namespace specdec::reference
