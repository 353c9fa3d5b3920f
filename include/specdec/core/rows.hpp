// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>

namespace specdec {

/// A number of a row: float, or what widens to one (float16, bfloat16, an engine's own). Integers
/// are refused: the bits of a half would pass for its value.
template <class E>
concept RowNumber = !std::integral<E> && std::is_trivially_copyable_v<E> &&
                    requires(const E& e) { static_cast<float>(e); };

/// One row of scores over a vocabulary, borrowed from the engine. It views the logical vocabulary
/// only: padding of the LM head is left out, so it never carries mass. -infinity forbids a token.
/// Id is target_id or draft_id.
template <class Id, RowNumber Number = float>
struct logits_row {
    using id_type = Id;
    std::span<const Number> values; ///< [vocabulary]

    [[nodiscard]] std::size_t size() const { return values.size(); }
};

/// Whether a row of logits leaves anything to draw: a drafter may forbid every token. (NaN is not
/// -infinity: a row of nothing else goes on to where it is refused.)
[[nodiscard]] inline bool any_allowed(std::span<const float> logits) {
    for (const float logit : logits)
        if (logit != -builtin::infinity)
            return true;
    return false;
}

/// One row of probabilities: numbers from 0 on with a positive sum, by which they are divided.
/// (given_laws wants 1, unless told otherwise.)
template <class Id>
struct probabilities_row {
    using id_type = Id;
    std::span<const float> values; ///< [vocabulary]

    [[nodiscard]] std::size_t size() const { return values.size(); }
};

/// Rows for consecutive positions, borrowed from the engine: [rows, vocabulary] with a distance of
/// `stride` numbers between rows, stride >= vocabulary (LM heads are padded).
/// Lifetime: whatever the engine says; the library never uses a view past the engine's next call.
template <class Row>
class strided_rows {
public:
    using row_type = Row;
    using number_type = typename decltype(Row::values)::value_type;

    strided_rows() = default;
    /// Errors: specdec::error if data is null, or several rows would lie over each other.
    strided_rows(const number_type* data, std::size_t rows, std::size_t vocabulary,
                 std::size_t stride)
        : data_(data), rows_(rows), vocabulary_(vocabulary), stride_(stride) {
        if (rows > 1 && stride < vocabulary)
            fail("rows", "stride", "expected at least the vocabulary");
        if (data == nullptr && rows > 0 && vocabulary > 0)
            fail("rows", "data", "expected numbers, found a null pointer");
    }

    [[nodiscard]] std::size_t size() const { return rows_; }
    [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

    /// Row i: of the token after the i-th scored token. Precondition: i < size().
    [[nodiscard]] Row operator[](std::size_t i) const {
        SPECDEC_PRECONDITION(i < rows_);
        return {{data_ + i * stride_, vocabulary_}};
    }

    /// n rows from row `first` on. Precondition: first + n <= size().
    [[nodiscard]] strided_rows middle(std::size_t first, std::size_t n) const {
        SPECDEC_PRECONDITION(first + n <= rows_);
        return {data_ + first * stride_, n, vocabulary_, stride_};
    }
    /// The last n rows. Precondition: n <= size().
    [[nodiscard]] strided_rows last(std::size_t n) const {
        SPECDEC_PRECONDITION(n <= rows_);
        return middle(rows_ - n, n);
    }

private:
    const number_type* data_ = nullptr;
    std::size_t rows_ = 0;
    std::size_t vocabulary_ = 0;
    std::size_t stride_ = 0;
};

/// Rows of logits, and of probabilities: what a model scores.
template <class Id, RowNumber Number = float>
using logits_rows = strided_rows<logits_row<Id, Number>>;
template <class Id>
using probabilities_rows = strided_rows<probabilities_row<Id>>;

/// Rows of any kind for consecutive positions.
///
///     r.size()        how many
///     r.vocabulary()  ids that a row tells of: 0 .. vocabulary()-1
///     r[i]            row i, of any type that a law factory takes (process/law_factory.hpp)
template <class R, class Id>
concept RowsOf = std::copy_constructible<R> && requires(const R& rows, std::size_t i) {
    { rows.size() } -> std::convertible_to<std::size_t>;
    { rows.vocabulary() } -> std::convertible_to<std::size_t>;
    requires std::same_as<typename std::remove_cvref_t<decltype(rows[i])>::id_type, Id>;
};

} // namespace specdec
