// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include <specdec_engine/kernel/numbers.hpp>
#include <specdec_engine/learn/panels/panel_product.hpp>
#include <specdec_engine/learn/panels/product_numbers.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

/// The three products of a projection y = W x and its reverse, over all positions at once, shared
/// out to a team: a result does not depend on the number of threads. Those of floats run in the
/// panel kernels (panel_product), in F32 or BF16; those of doubles, which tests compare with, in
/// Eigen, tile by tile.
///
///     w [inputs, outputs] (columns.hpp)   x [inputs, n]   y [outputs, n]
///
/// Complexity: 2 inputs outputs n each. Memory: of the panels, which grows to the largest product;
/// Eigen takes some and gives it back. For one thread at a time.
class products {
public:
    explicit products(std::shared_ptr<thread_pool> team, const product_settings& settings = {})
        : team_(std::move(team)), settings_(settings),
          panels_(panel_product<float>(settings.instructions)) {
        if (settings.numbers == product_numbers::bf16)
            panels_.emplace<panel_product<bf16_bits>>(settings.instructions);
    }

    [[nodiscard]] thread_pool& team() const { return *team_; }
    [[nodiscard]] const product_settings& settings() const { return settings_; }

    /// y = W x, or y + W x where `add`
    template <class Scalar>
    void forward(constant_columns<Scalar> w, constant_columns<Scalar> x, columns<Scalar> y,
                 bool add = false) const {
        if constexpr (std::same_as<Scalar, float>) {
            // Positions are the rows of panels: packing these costs more, and they are fewer.
            multiply({x.data(), 1, step(x)}, x.cols(), {w.data(), 1, step(w)}, w.cols(), w.rows(),
                     {y.data(), step(y), 1}, add);
        } else {
            each_tile(y, [&](const tile& t, columns<Scalar> out) {
                if (!add)
                    out.setZero();
                add_transposed_product(some_columns(w, t.row, t.rows),
                                       some_columns(x, t.column, t.columns), out);
            });
        }
    }
    /// dx = W^T dy, or dx + W^T dy where `add`
    template <class Scalar>
    void backward(constant_columns<Scalar> w, constant_columns<Scalar> dy, columns<Scalar> dx,
                  bool add = false) const {
        if constexpr (std::same_as<Scalar, float>) {
            multiply({w.data(), step(w), 1}, w.rows(), {dy.data(), 1, step(dy)}, dy.cols(),
                     w.cols(), {dx.data(), 1, step(dx)}, add);
        } else {
            each_tile(dx, [&](const tile& t, columns<Scalar> out) {
                if (!add)
                    out.setZero();
                add_product(head_row_subset(w, t.row, t.rows),
                            some_columns(dy, t.column, t.columns), out);
            });
        }
    }
    /// dW += dy x^T, in the form of w: [inputs, outputs]
    template <class Scalar>
    void add_outer(constant_columns<Scalar> x, constant_columns<Scalar> dy,
                   columns<Scalar> dw) const {
        if constexpr (std::same_as<Scalar, float>) {
            multiply({x.data(), step(x), 1}, x.rows(), {dy.data(), step(dy), 1}, dy.rows(),
                     x.cols(), {dw.data(), 1, step(dw)}, true);
        } else {
            each_tile(dw, [&](const tile& t, columns<Scalar> out) {
                add_outer_product(head_row_subset(x, t.row, t.rows),
                                  head_row_subset(dy, t.column, t.columns), out);
            });
        }
    }

    /// work(c) for every column below n, shared out: for what columns do apart.
    template <class Work>
    void each_column(std::size_t n, const Work& work) const {
        team_->run(n, 16, [&](pool_share s) {
            for (std::size_t c = s.begin; c < s.end; ++c)
                work(c);
        });
    }

private:
    template <class Matrix>
    static std::size_t step(const Matrix& m) {
        return static_cast<std::size_t>(m.outerStride());
    }
    void multiply(const product_factor& a, Eigen::Index rows, const product_factor& b,
                  Eigen::Index n, Eigen::Index length, const product_result& c, bool add) const {
        std::visit(
            [&](auto& product) {
                product.run(*team_, a, static_cast<std::size_t>(rows), b,
                            static_cast<std::size_t>(n), static_cast<std::size_t>(length), c, add);
            },
            panels_);
    }

    static constexpr std::size_t edge = 256; ///< large enough that packing costs little

    struct tile {
        std::size_t row, rows, column, columns;
    };

    template <class Scalar, class Work>
    void each_tile(columns<Scalar> out, const Work& work) const {
        const auto rows = static_cast<std::size_t>(out.rows());
        const auto n = static_cast<std::size_t>(out.cols());
        const std::size_t down = (rows + edge - 1) / edge;
        const std::size_t across = (n + edge - 1) / edge;
        team_->run(down * across, 1, [&](pool_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i) {
                tile t{i % down * edge, 0, i / down * edge, 0};
                t.rows = std::min(edge, rows - t.row);
                t.columns = std::min(edge, n - t.column);
                work(t, some_columns(head_row_subset(out, t.row, t.rows), t.column, t.columns));
            }
        });
    }

    std::shared_ptr<thread_pool> team_;
    product_settings settings_;
    mutable std::variant<panel_product<float>, panel_product<bf16_bits>> panels_;
};

} // namespace specdec::engine
