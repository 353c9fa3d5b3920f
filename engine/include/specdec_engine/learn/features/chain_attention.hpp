// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include <specdec_engine/learn/reverse/columns.hpp>

namespace specdec::engine {

/// Attention of one cell of a chain, of the query heads that share a key head, over the text's
/// places that it sees and then over the cells of its chain up to itself (HASS, Zhang et al. 2024,
/// section 3.2: a draft's later keys are made of its own features):
///
///     p = softmax over both of k . q / sqrt(d)        o = sum of p v
///
/// Shapes: q, out [d, heads], keys and values [d, places]; cells: their columns, the earliest
/// first, and p [places + cells, heads], which is kept for the reverse. Complexity: O(d (places +
/// cells)).
template <class Scalar>
struct chain_keys {
    constant_columns<Scalar> keys, values;  ///< of the places
    columns<Scalar> cell_keys, cell_values; ///< of all cells
    std::span<const std::size_t> cells;     ///< columns of these: the chain's
};

template <class Scalar>
void chain_attention(constant_columns<Scalar> q, const chain_keys<Scalar>& seen, columns<Scalar> p,
                     columns<Scalar> out) {
    const auto places = static_cast<std::size_t>(seen.keys.cols());
    const Scalar scale = 1 / std::sqrt(static_cast<Scalar>(q.rows()));
    auto text = head_row_subset(p, 0, places);
    text.setZero();
    add_transposed_product(seen.keys, q, text);
    for (Eigen::Index h = 0; h < p.cols(); ++h) {
        for (std::size_t m = 0; m < seen.cells.size(); ++m)
            p(index_of(places + m), h) = seen.cell_keys.col(index_of(seen.cells[m])).dot(q.col(h));
        auto row = p.col(h).array();
        row = ((row - row.maxCoeff()) * scale).exp();
        row /= row.sum();
    }
    out.setZero();
    add_product(seen.values, constant(text), out);
    for (std::size_t m = 0; m < seen.cells.size(); ++m)
        for (Eigen::Index h = 0; h < p.cols(); ++h)
            out.col(h) +=
                p(index_of(places + m), h) * seen.cell_values.col(index_of(seen.cells[m]));
}

/// Its reverse (causal_attention.hpp has the formulas). Gradients of keys and values are added, of
/// q written; dp: scratch like p. dq may be the memory of dout.
template <class Scalar>
void chain_attention_reverse(constant_columns<Scalar> q, const chain_keys<Scalar>& seen,
                             constant_columns<Scalar> p, constant_columns<Scalar> dout,
                             columns<Scalar> dp, columns<Scalar> dq, columns<Scalar> dkeys,
                             columns<Scalar> dvalues, columns<Scalar> dcell_keys,
                             columns<Scalar> dcell_values) {
    const auto places = static_cast<std::size_t>(seen.keys.cols());
    const Scalar scale = 1 / std::sqrt(static_cast<Scalar>(q.rows()));
    auto text = head_row_subset(dp, 0, places);
    text.setZero();
    add_transposed_product(seen.values, dout, text);
    add_outer_product(dout, head_row_subset(p, 0, places), dvalues);
    for (std::size_t m = 0; m < seen.cells.size(); ++m) {
        const Eigen::Index at = index_of(places + m), cell = index_of(seen.cells[m]);
        for (Eigen::Index h = 0; h < p.cols(); ++h) {
            dp(at, h) = seen.cell_values.col(cell).dot(dout.col(h));
            dcell_values.col(cell) += p(at, h) * dout.col(h);
        }
    }
    for (Eigen::Index h = 0; h < p.cols(); ++h) {
        const Scalar mean = p.col(h).dot(dp.col(h));
        dp.col(h).array() = p.col(h).array() * (dp.col(h).array() - mean) * scale;
    }
    add_outer_product(q, constant(text), dkeys);
    dq.setZero(); // behind the last use of dout there
    add_product(seen.keys, constant(text), dq);
    for (std::size_t m = 0; m < seen.cells.size(); ++m) {
        const Eigen::Index at = index_of(places + m), cell = index_of(seen.cells[m]);
        for (Eigen::Index h = 0; h < p.cols(); ++h) {
            dcell_keys.col(cell) += dp(at, h) * q.col(h);
            dq.col(h) += dp(at, h) * seen.cell_keys.col(cell);
        }
    }
}

} // namespace specdec::engine
