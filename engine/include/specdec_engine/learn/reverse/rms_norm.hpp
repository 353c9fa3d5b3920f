// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include <specdec_engine/learn/reverse/columns.hpp>
#include <specdec_engine/learn/reverse/products.hpp>

namespace specdec::engine {

/// RMSNorm (Zhang and Sennrich, arXiv 1910.07467), a column a position:
///
///     y_k = g_k s x_k,    s = (sum of x_k^2 / d + epsilon)^(-1/2)
///
/// Shapes: x, y [d, n], weight g [d], scales s [n], kept for the reverse. Complexity: O(d n).
template <class Scalar>
void rms_norm(const products& team, constant_columns<Scalar> x, const Scalar* weight,
              Scalar epsilon, columns<Scalar> y, Scalar* scales) {
    const auto g = columns_of(weight, static_cast<std::size_t>(x.rows()), 1).col(0).array();
    team.each_column(static_cast<std::size_t>(x.cols()), [&](std::size_t c) {
        const auto in = x.col(index_of(c));
        scales[c] = 1 / std::sqrt(in.squaredNorm() / static_cast<Scalar>(x.rows()) + epsilon);
        y.col(index_of(c)).array() = in.array() * scales[c] * g;
    });
}

/// Its reverse: from dy to
///
///     dx_k += s (g_k dy_k - x_k s^2 / d * sum over j of g_j dy_j x_j)
///     dg_k += sum over positions of dy_k s x_k
///
/// dx: of other memory than dy. weight_gradient: null where it is not wanted.
template <class Scalar>
void rms_norm_reverse(const products& team, constant_columns<Scalar> x, const Scalar* weight,
                      const Scalar* scales, constant_columns<Scalar> dy, columns<Scalar> dx,
                      Scalar* weight_gradient) {
    const auto d = static_cast<std::size_t>(x.rows());
    const auto g = columns_of(weight, d, 1).col(0).array();
    team.each_column(static_cast<std::size_t>(x.cols()), [&](std::size_t c) {
        const auto in = x.col(index_of(c)).array();
        const auto given = dy.col(index_of(c)).array();
        const Scalar s = scales[c];
        const Scalar along = (g * given * in).sum() * s * s / static_cast<Scalar>(d);
        dx.col(index_of(c)).array() += s * (g * given - along * in);
    });
    if (weight_gradient == nullptr)
        return;
    auto dg = columns_of(weight_gradient, d, 1).col(0).array();
    for (Eigen::Index c = 0; c < x.cols(); ++c)
        dg += dy.col(c).array() * x.col(c).array() * scales[c];
}

} // namespace specdec::engine
