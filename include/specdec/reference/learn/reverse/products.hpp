// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <memory>
#include <utility>

#include <specdec/reference/learn/reverse/columns.hpp>
#include <specdec/reference/team/thread_team.hpp>

namespace specdec::reference {

/// The three products of a projection y = W x and its reverse, over all positions at once, shared
/// out to a team in tiles of fixed size: a result does not depend on the number of threads.
///
///     w [inputs, outputs] (columns.hpp)   x [inputs, n]   y [outputs, n]
///
/// Complexity: 2 inputs outputs n each. Allocates nothing of its own; Eigen takes memory for packed
/// parts of a product and gives it back at its end.
class products {
public:
    explicit products(std::shared_ptr<thread_team> team) : team_(std::move(team)) {}

    [[nodiscard]] thread_team& team() const { return *team_; }

    /// y = W x, or y + W x where `add`
    template <class Scalar>
    void forward(constant_columns<Scalar> w, constant_columns<Scalar> x, columns<Scalar> y,
                 bool add = false) const {
        each_tile(y, [&](const tile& t, columns<Scalar> out) {
            if (!add)
                out.setZero();
            add_transposed_product(some_columns(w, t.row, t.rows),
                                   some_columns(x, t.column, t.columns), out);
        });
    }
    /// dx = W^T dy, or dx + W^T dy where `add`
    template <class Scalar>
    void backward(constant_columns<Scalar> w, constant_columns<Scalar> dy, columns<Scalar> dx,
                  bool add = false) const {
        each_tile(dx, [&](const tile& t, columns<Scalar> out) {
            if (!add)
                out.setZero();
            add_product(head_row_subset(w, t.row, t.rows), some_columns(dy, t.column, t.columns),
                        out);
        });
    }
    /// dW += dy x^T, in the form of w: [inputs, outputs]
    template <class Scalar>
    void add_outer(constant_columns<Scalar> x, constant_columns<Scalar> dy,
                   columns<Scalar> dw) const {
        each_tile(dw, [&](const tile& t, columns<Scalar> out) {
            add_outer_product(head_row_subset(x, t.row, t.rows),
                              head_row_subset(dy, t.column, t.columns), out);
        });
    }

    /// work(c) for every column below n, shared out: for what columns do apart.
    template <class Work>
    void each_column(std::size_t n, const Work& work) const {
        team_->run(n, 16, [&](team_share s) {
            for (std::size_t c = s.begin; c < s.end; ++c)
                work(c);
        });
    }

private:
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
        team_->run(down * across, 1, [&](team_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i) {
                tile t{i % down * edge, 0, i / down * edge, 0};
                t.rows = std::min(edge, rows - t.row);
                t.columns = std::min(edge, n - t.column);
                work(t, some_columns(head_row_subset(out, t.row, t.rows), t.column, t.columns));
            }
        });
    }

    std::shared_ptr<thread_team> team_;
};

} // namespace specdec::reference
