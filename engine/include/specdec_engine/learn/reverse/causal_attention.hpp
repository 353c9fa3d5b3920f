// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cmath>
#include <cstddef>
#include <memory>

#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/products.hpp>
#include <specdec_engine/team/thread_pool.hpp>

namespace specdec::engine {

/// Queries that are treated together. A tile of queries sees a rectangle of keys; the corner behind
/// the diagonal is computed in vain.
inline constexpr std::size_t query_tile = 64;

/// Scratch of one thread for sequences of up to `longest` positions: two tiles of weights, and
/// products with panels of their own, which nobody helps with: heads are what threads share.
template <class Scalar>
struct causal_scratch {
    explicit causal_scratch(std::size_t longest, const product_settings& multiplied = {})
        : alone(std::make_shared<thread_pool>(1), multiplied), weights(longest, query_tile),
          gradients(longest, query_tile) {}

    products alone;
    activation_memory<Scalar> weights;
    activation_memory<Scalar> gradients;
};

namespace detail {

/// The first n rows of a tile of scratch.
template <class Scalar>
columns<Scalar> scratch_tile(activation_memory<Scalar>& memory, std::size_t rows,
                             std::size_t queries) {
    return head_row_subset(memory.first(queries), 0, rows);
}

/// P_ij = softmax over i <= j of k_i . q_j / sqrt(d), zeros elsewhere; queries first .. of them.
template <class Scalar>
void attention_weights(constant_columns<Scalar> queries, constant_columns<Scalar> keys,
                       std::size_t first, columns<Scalar> p, const products& alone) {
    const Scalar scale = 1 / std::sqrt(static_cast<Scalar>(keys.rows()));
    alone.forward(keys, queries, p);
    for (Eigen::Index j = 0; j < p.cols(); ++j) {
        const Eigen::Index seen = index_of(first) + j + 1;
        auto row = p.col(j).array().head(seen);
        const Scalar greatest = row.maxCoeff();
        row = ((row - greatest) * scale).exp();
        row /= row.sum();
        p.col(j).tail(p.rows() - seen).setZero();
    }
}

} // namespace detail

/// Causal attention of one query head over one sequence: o_j = sum over i <= j of P_ij v_i.
/// Shapes: queries, keys, values, out [d, n], a column a position. Complexity: O(d n^2).
template <class Scalar>
void causal_attention(constant_columns<Scalar> queries, constant_columns<Scalar> keys,
                      constant_columns<Scalar> values, columns<Scalar> out,
                      causal_scratch<Scalar>& scratch) {
    const auto n = static_cast<std::size_t>(queries.cols());
    for (std::size_t first = 0; first < n; first += query_tile) {
        const std::size_t count = std::min(query_tile, n - first);
        const std::size_t seen = first + count;
        const auto p = detail::scratch_tile(scratch.weights, seen, count);
        detail::attention_weights(some_columns(queries, first, count), some_columns(keys, 0, seen),
                                  first, p, scratch.alone);
        scratch.alone.backward(some_columns(values, 0, seen), constant(p),
                               some_columns(out, first, count));
    }
}

/// Its reverse. It computes the weights again instead of keeping them, so that memory grows with n,
/// not n^2:
///
///     dV += dO P^T    dP = V^T dO    dS_ij = P_ij (dP_ij - sum over i of P_ij dP_ij) / sqrt(d)
///     dQ = K dS       dK += Q dS^T
///
/// dk and dv are added to (heads of a group share them), dq is written. dq may be the memory of the
/// gradient of out.
template <class Scalar>
void causal_attention_reverse(constant_columns<Scalar> queries, constant_columns<Scalar> keys,
                              constant_columns<Scalar> values, constant_columns<Scalar> dout,
                              columns<Scalar> dq, columns<Scalar> dk, columns<Scalar> dv,
                              causal_scratch<Scalar>& scratch) {
    const auto n = static_cast<std::size_t>(queries.cols());
    const Scalar scale = 1 / std::sqrt(static_cast<Scalar>(keys.rows()));
    for (std::size_t first = 0; first < n; first += query_tile) {
        const std::size_t count = std::min(query_tile, n - first);
        const std::size_t seen = first + count;
        auto p = detail::scratch_tile(scratch.weights, seen, count);
        auto ds = detail::scratch_tile(scratch.gradients, seen, count);
        const auto q = some_columns(queries, first, count);
        const auto k = some_columns(keys, 0, seen);
        const auto given = some_columns(dout, first, count);
        detail::attention_weights(q, k, first, p, scratch.alone);
        scratch.alone.add_outer(given, constant(p), some_columns(dv, 0, seen));
        scratch.alone.forward(some_columns(values, 0, seen), given, ds);
        for (Eigen::Index j = 0; j < p.cols(); ++j) {
            const Scalar mean = p.col(j).dot(ds.col(j));
            ds.col(j).array() = p.col(j).array() * (ds.col(j).array() - mean) * scale;
        }
        // Behind the last use of dout there.
        scratch.alone.backward(k, constant(ds), some_columns(dq, first, count));
        scratch.alone.add_outer(q, constant(ds), some_columns(dk, 0, seen));
    }
}

} // namespace specdec::engine
