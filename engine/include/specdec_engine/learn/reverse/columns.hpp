// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <Eigen/Core>

#include <specdec_engine/kernel/aligned_allocator.hpp>

/// Matrices of learning, all by columns. Activations have a column a position. A weight matrix,
/// [outputs, inputs] by rows as Hugging Face stores it, is the same memory as [inputs, outputs] by
/// columns, so that y = W x reads  y = w.transpose() * x  here.
namespace specdec::engine {

/// A matrix in somebody else's memory, or some rows of one.
template <class Scalar>
using columns =
    Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using constant_columns = Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>, 0,
                                    Eigen::OuterStride<>>;

[[nodiscard]] constexpr Eigen::Index index_of(std::size_t n) {
    return static_cast<Eigen::Index>(n);
}

/// [rows, n] of memory that is [stride, ..]; stride 0: `rows`.
template <class Scalar>
[[nodiscard]] columns<Scalar> columns_of(Scalar* data, std::size_t rows, std::size_t n,
                                         std::size_t stride = 0) {
    return {data, index_of(rows), index_of(n),
            Eigen::OuterStride<>(index_of(stride == 0 ? rows : stride))};
}
template <class Scalar>
[[nodiscard]] constant_columns<Scalar> columns_of(const Scalar* data, std::size_t rows,
                                                  std::size_t n, std::size_t stride = 0) {
    return {data, index_of(rows), index_of(n),
            Eigen::OuterStride<>(index_of(stride == 0 ? rows : stride))};
}
template <class Scalar>
[[nodiscard]] constant_columns<Scalar> constant(const columns<Scalar>& m) {
    return {m.data(), m.rows(), m.cols(), Eigen::OuterStride<>(m.outerStride())};
}

/// Rows first .. first + n - 1 of a matrix.
template <class Matrix>
[[nodiscard]] Matrix head_row_subset(Matrix m, std::size_t first, std::size_t n) {
    return {m.data() + first, index_of(n), m.cols(), Eigen::OuterStride<>(m.outerStride())};
}
/// Columns first .. first + n - 1 of a matrix.
template <class Matrix>
[[nodiscard]] Matrix some_columns(Matrix m, std::size_t first, std::size_t n) {
    return {m.data() + index_of(first) * m.outerStride(), m.rows(), index_of(n),
            Eigen::OuterStride<>(m.outerStride())};
}

// The three products of learning, each compiled once for a number type: what they add to or set is
// other memory than what they read.

/// out += a b
template <class Scalar>
void add_product(const constant_columns<Scalar>& a, const constant_columns<Scalar>& b,
                 columns<Scalar> out) {
    out.noalias() += a * b;
}
/// out += a^T b
template <class Scalar>
void add_transposed_product(const constant_columns<Scalar>& a, const constant_columns<Scalar>& b,
                            columns<Scalar> out) {
    out.noalias() += a.transpose() * b;
}
/// out += a b^T
template <class Scalar>
void add_outer_product(const constant_columns<Scalar>& a, const constant_columns<Scalar>& b,
                       columns<Scalar> out) {
    out.noalias() += a * b.transpose();
}

/// Memory of activations: so many numbers a position, for up to so many positions.
template <class Scalar>
class activation_memory {
public:
    activation_memory() = default;
    activation_memory(std::size_t rows, std::size_t most) : rows_(rows), values_(rows * most) {}

    /// The first n positions.
    [[nodiscard]] columns<Scalar> first(std::size_t n) {
        return columns_of(values_.data(), rows_, n);
    }

private:
    std::size_t rows_ = 0;
    aligned_vector<Scalar> values_;
};

} // namespace specdec::engine
