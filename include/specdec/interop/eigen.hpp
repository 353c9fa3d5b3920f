// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

#include <Eigen/Core>

#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>

namespace specdec {

static_assert(EIGEN_VERSION_AT_LEAST(3, 3, 90), "specdec: expected Eigen 3.4 or newer");

/// Floats of Eigen that lie in memory: a matrix, array, map or block, but no expression to be
/// computed. They must outlive the call, so a temporary must be a view.
template <class M>
concept EigenFloats =
    std::derived_from<std::remove_cvref_t<M>, Eigen::DenseBase<std::remove_cvref_t<M>>> &&
    std::same_as<typename std::remove_cvref_t<M>::Scalar, float> &&
    (std::remove_cvref_t<M>::Flags & Eigen::DirectAccessBit) != 0 &&
    (std::is_lvalue_reference_v<M> ||
     !std::derived_from<std::remove_cvref_t<M>, Eigen::PlainObjectBase<std::remove_cvref_t<M>>>);

/// The logits of consecutive positions in a row-major matrix: [rows, padded vocabulary], of which
/// the first `vocabulary` columns count.
///
///     Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> head = ...;
///     session.verify(logits_rows_of<target_id>(head, vocabulary), coin);
///
/// A view: nothing is copied, the matrix must live and stay where it is. Any outer stride.
/// Errors: specdec::error where the vocabulary has more tokens than the matrix has columns, or the
/// floats of a row are not next to each other.
template <class Id, EigenFloats M>
    requires(bool(std::remove_cvref_t<M>::IsRowMajor))
[[nodiscard]] logits_rows<Id> logits_rows_of(M&& rows, std::size_t vocabulary) {
    const auto columns = static_cast<std::size_t>(rows.cols());
    if (vocabulary > columns)
        throw error("logits", "vocabulary",
                    "expected at most the matrix's " + std::to_string(columns) +
                        " columns, found " + std::to_string(vocabulary));
    if (columns > 1 && rows.innerStride() != 1)
        throw error("logits", "inner stride",
                    "expected 1, found " + std::to_string(rows.innerStride()));
    const auto count = static_cast<std::size_t>(rows.rows());
    const std::size_t stride = count > 1 ? static_cast<std::size_t>(rows.outerStride()) : columns;
    if (stride < vocabulary) // a map onto itself
        throw error("logits", "outer stride",
                    "expected at least the vocabulary, found " + std::to_string(stride));
    return {rows.data(), count, vocabulary, stride};
}

template <class Id, EigenFloats M>
    requires(bool(std::remove_cvref_t<M>::IsRowMajor))
[[nodiscard]] logits_rows<Id> logits_rows_of(M&& rows) {
    return logits_rows_of<Id>(rows, static_cast<std::size_t>(rows.cols()));
}

} // namespace specdec
