// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/weighted_row.hpp>

namespace specdec {

/// The law of a row of logits after sampling parameters: probability(i) proportional to
/// exp(logit(i) / temperature) for the ids that the cutoffs keep, 0 for the others; temperature 0:
/// 1 for the largest logit (the lowest id among equals). A view: lives no longer than the row.
/// Models LawOf<_, Id>. Accuracy: probabilities are within about 1e-6 (relative) of the true
/// softmax, and 1e-7 more for every factor of 2 below the likeliest; they sum to 1 within 1e-12;
/// at(u) and probability(id) belong to the same law to double rounding. Ids less likely than 2^-100
/// times the likeliest may get 0. Errors: specdec::error for parameters out of range and for a row
/// that is empty, holds NaN, +infinity, or nothing finite. Complexity: one read of the row to
/// construct (more reads of it, then cached, with top_k, top_p, min_p or a wide row at a low
/// temperature); at(u) reads one block of about V / 128 logits; probability and log_probability
/// O(1). Allocates nothing; about 1 KB large.
template <class Id>
class softmax_law {
public:
    using id_type = Id;

    explicit softmax_law(logits_row<Id> row, const sampling_parameters& parameters = {})
        : row_(row.values, parameters, side_of<Id>()) {}

    [[nodiscard]] std::size_t size() const { return row_.size(); }
    /// 0 for an id outside the row.
    [[nodiscard]] double probability(Id id) const { return row_.probability(id.index()); }
    template <UnitNumber U>
    [[nodiscard]] Id at(U u) const {
        return id_at<Id>(row_.at(u));
    }

    /// The likeliest id; the lowest among equals.
    [[nodiscard]] Id top() const { return id_at<Id>(row_.top()); }
    /// Natural logarithm of probability(id), -infinity for 0; accurate where probability
    /// underflows.
    [[nodiscard]] double log_probability(Id id) const { return row_.log_probability(id.index()); }
    /// Natural logarithm of the sum of exp(logit / temperature) over the whole row, before the
    /// cutoffs; at temperature 0 the largest logit.
    [[nodiscard]] double log_sum_exp() const { return row_.log_sum_exp(); }
    /// values[j] = probability of the id at position first + j (0 outside the row): the fast way to
    /// many of them.
    void probabilities(std::size_t first, std::span<double> values) const {
        row_.probabilities(first, values);
    }
    /// weights[j] * result: at least the probability of the id at position first + j, at most 6.2 %
    /// more. Pre: temperature above 0, all inside the row.
    double weights_above(std::size_t first, std::span<float> weights) const {
        return row_.weights(first, weights, true);
    }

private:
    weighted_row row_;
};

template <class Id>
softmax_law(logits_row<Id>) -> softmax_law<Id>;
template <class Id>
softmax_law(logits_row<Id>, sampling_parameters) -> softmax_law<Id>;

/// The law of the row: softmax_law without naming Id.
template <class Id>
[[nodiscard]] softmax_law<Id> make_law(logits_row<Id> row, const sampling_parameters& parameters) {
    return softmax_law<Id>(row, parameters);
}

} // namespace specdec
