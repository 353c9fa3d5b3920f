// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/interop/xtensor_containers.hpp>

namespace specdec {

/// Floats of xtensor that lie in memory (tensor, array, adaptor, strided view; no expression to be
/// computed), and still do when the call returns: a temporary must be a view.
template <class T>
concept XtensorFloats =
    requires(const std::remove_cvref_t<T>& t) {
        { t.data() } -> std::convertible_to<const float*>;
        { t.data_offset() } -> std::convertible_to<std::size_t>;
        { t.dimension() } -> std::convertible_to<std::size_t>;
        t.strides()[0];
        t.shape()[0];
    } && (std::is_lvalue_reference_v<T> ||
          !std::derived_from<std::remove_cvref_t<T>, xt::xcontainer<std::remove_cvref_t<T>>>);

/// The logits of consecutive positions in a tensor [rows, padded vocabulary], of which the first
/// `vocabulary` columns count.
///
///     xt::xtensor<float, 3> logits = ...; // [sequences, rows, padded vocabulary]
///     session.verify(logits_rows_of<target_id>(xt::view(logits, s), vocabulary), coin);
///
/// A view: nothing is copied, the tensor must live and stay where it is. Any distance between rows.
/// Errors: specdec::error where there are not two axes, the vocabulary has more tokens than the
/// tensor has columns, or the floats of a row are not next to each other.
template <class Id, XtensorFloats T>
[[nodiscard]] logits_rows<Id> logits_rows_of(T&& rows, std::size_t vocabulary) {
    if (rows.dimension() != 2)
        throw error("logits", "axes", "expected 2, found " + std::to_string(rows.dimension()));
    const auto count = static_cast<std::size_t>(rows.shape()[0]);
    const auto columns = static_cast<std::size_t>(rows.shape()[1]);
    if (vocabulary > columns)
        throw error("logits", "vocabulary",
                    "expected at most the tensor's " + std::to_string(columns) +
                        " columns, found " + std::to_string(vocabulary));
    if (columns > 1 && rows.strides()[1] != 1)
        throw error("logits", "stride of columns",
                    "expected 1, found " + std::to_string(rows.strides()[1]));
    // xtensor gives an axis of length 1 the stride 0.
    const auto stride = static_cast<std::ptrdiff_t>(count > 1 ? rows.strides()[0] : 0);
    if (count > 1 && stride < static_cast<std::ptrdiff_t>(vocabulary))
        throw error("logits", "stride of rows",
                    "expected at least the vocabulary, found " + std::to_string(stride));
    return {rows.data() + rows.data_offset(), count, vocabulary,
            count > 1 ? static_cast<std::size_t>(stride) : columns};
}

/// All columns count.
template <class Id, XtensorFloats T>
[[nodiscard]] logits_rows<Id> logits_rows_of(T&& rows) {
    if (rows.dimension() != 2)
        throw error("logits", "axes", "expected 2, found " + std::to_string(rows.dimension()));
    return logits_rows_of<Id>(rows, static_cast<std::size_t>(rows.shape()[1]));
}

} // namespace specdec
