// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/sampling/law/floating_point.hpp>

namespace specdec {

/// The law of a row of probabilities (of any positive sum, which is taken once, in double). A view:
/// lives no longer than the row. Models LawOf<_, Id>.
/// Errors: specdec::error when a value is negative or NaN, or the sum is not positive and finite.
/// Complexity: one read to construct, O(V) for at(u), O(1) for probability. Allocates nothing.
template <class Id>
class dense_law {
public:
    using id_type = Id;

    explicit dense_law(probabilities_row<Id> row) : row_(row) {
        bool valid = true;
        for (const float weight : row_.values) {
            valid = valid && weight >= 0;
            total_ += static_cast<double>(weight);
        }
        if (!valid || !(total_ > 0) || !(total_ <= 1e300))
            fail("probabilities row", "values",
                 "expected numbers of at least 0 with a positive, finite sum");
    }

    [[nodiscard]] std::size_t size() const { return row_.size(); }

    /// Sum of the row, which probabilities are parts of.
    [[nodiscard]] double total() const { return total_; }

    /// 0 for an id outside the row.
    [[nodiscard]] double probability(Id id) const {
        return id.index() < size() ? static_cast<double>(row_.values[id.index()]) / total_ : 0.0;
    }

    /// weights[j] * result = probability of the id at position first + j. Pre: all inside the row.
    double weights(std::size_t first, std::span<float> weights) const {
        for (std::size_t j = 0; j < weights.size(); ++j)
            weights[j] = row_.values[first + j];
        return 1 / total_;
    }

    template <UnitNumber U>
    [[nodiscard]] Id at(U u) const {
        const U mass = u * total_;
        double reached = 0;
        std::size_t last = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            if (!(row_.values[i] > 0))
                continue;
            last = i;
            reached += static_cast<double>(row_.values[i]);
            if (mass < reached)
                break;
        }
        return id_at<Id>(last); // past the end only by rounding: the last id with mass
    }

private:
    probabilities_row<Id> row_;
    double total_ = 0;
};

template <class Id>
dense_law(probabilities_row<Id>) -> dense_law<Id>;

} // namespace specdec
