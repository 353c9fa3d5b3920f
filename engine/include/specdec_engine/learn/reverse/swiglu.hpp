// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/products.hpp>

namespace specdec::engine {

/// SwiGLU (Shazeer, arXiv 2002.05202), a column a position: hidden = silu(gate) * up,
/// silu(z) = z / (1 + exp(-z)). Shapes: gate_up [2 h, n], the gates above the ups; hidden [h, n].
/// Complexity: O(h n).
template <class Scalar>
void swiglu(const products& team, constant_columns<Scalar> gate_up, columns<Scalar> hidden) {
    const Eigen::Index h = hidden.rows();
    team.each_column(static_cast<std::size_t>(hidden.cols()), [&](std::size_t c) {
        const auto both = gate_up.col(index_of(c)).array();
        hidden.col(index_of(c)).array() = both.head(h) / (1 + (-both.head(h)).exp()) * both.tail(h);
    });
}

/// Its reverse, with s = 1 / (1 + exp(-gate)):
///
///     dgate = dhidden * up * s (1 + gate (1 - s))        dup = dhidden * gate * s
///
/// gate_up holds the values and receives their gradients.
template <class Scalar>
void swiglu_reverse(const products& team, constant_columns<Scalar> dhidden,
                    columns<Scalar> gate_up) {
    const std::size_t h = static_cast<std::size_t>(dhidden.rows());
    team.each_column(static_cast<std::size_t>(dhidden.cols()), [&](std::size_t c) {
        constexpr std::size_t part = 64; // so that the sigmoids need no memory of their own
        for (std::size_t first = 0; first < h; first += part) {
            const Eigen::Index n = index_of(first + part < h ? part : h - first);
            auto gate = gate_up.col(index_of(c)).array().segment(index_of(first), n);
            auto up = gate_up.col(index_of(c)).array().segment(index_of(first + h), n);
            const auto given = dhidden.col(index_of(c)).array().segment(index_of(first), n);
            Eigen::Array<Scalar, Eigen::Dynamic, 1, 0, static_cast<int>(part), 1> s(n), silu(n);
            s = 1 / (1 + (-gate).exp());
            silu = gate * s;
            gate = given * up * (s + silu * (1 - s));
            up = given * silu;
        }
    });
}

} // namespace specdec::engine
