// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/contract.hpp>

namespace specdec {

/// One row of scores over a vocabulary, borrowed from the engine: a view of the logical vocabulary
/// only. Rows that pad an LM head are not part of it and so never carry mass.
/// Scores are float; -infinity forbids a token. Id is target_id or draft_id.
template <class Id>
struct logits_row {
    std::span<const float> values; ///< [vocabulary]

    [[nodiscard]] std::size_t size() const { return values.size(); }
};

/// Whether a row of logits leaves anything to draw: a drafter may forbid every token.
[[nodiscard]] inline bool any_allowed(std::span<const float> logits) {
    for (const float logit : logits)
        if (logit > -__builtin_inff())
            return true;
    return false;
}

/// One row of probabilities (not negative; scaled to any positive sum).
template <class Id>
struct probabilities_row {
    std::span<const float> values; ///< [vocabulary]

    [[nodiscard]] std::size_t size() const { return values.size(); }
};

/// Rows of logits for consecutive positions, borrowed from the engine: [rows, vocabulary] with a
/// distance of `stride` floats between rows, stride >= vocabulary (LM heads are padded).
/// Lifetime: whatever the engine says; the library never uses a view past the engine's next call.
template <class Id>
class logits_rows {
public:
    logits_rows() = default;
    /// Precondition: stride >= vocabulary.
    logits_rows(const float* data, std::size_t rows, std::size_t vocabulary, std::size_t stride)
        : data_(data), rows_(rows), vocabulary_(vocabulary), stride_(stride) {
        SPECDEC_PRECONDITION(stride >= vocabulary);
    }

    [[nodiscard]] std::size_t size() const { return rows_; }
    [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

    /// Row i: the law's logits for the token after the i-th scored token. Precondition: i < size().
    [[nodiscard]] logits_row<Id> operator[](std::size_t i) const {
        SPECDEC_PRECONDITION(i < rows_);
        return {{data_ + i * stride_, vocabulary_}};
    }

    /// n rows from row `first` on. Precondition: first + n <= size().
    [[nodiscard]] logits_rows middle(std::size_t first, std::size_t n) const {
        SPECDEC_PRECONDITION(first + n <= rows_);
        return {data_ + first * stride_, n, vocabulary_, stride_};
    }
    /// The last n rows. Precondition: n <= size().
    [[nodiscard]] logits_rows last(std::size_t n) const {
        SPECDEC_PRECONDITION(n <= rows_);
        return middle(rows_ - n, n);
    }

private:
    const float* data_ = nullptr;
    std::size_t rows_ = 0;
    std::size_t vocabulary_ = 0;
    std::size_t stride_ = 0;
};

} // namespace specdec
