// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/first_where.hpp>
#include <specdec/core/law.hpp>

namespace specdec {

/// An id and its weight: a law's mass is weight / (sum of weights).
template <class Id>
struct weighted_id {
    Id id;
    float weight = 0;
};

/// A law given by the few ids that carry mass (a pruned head, an n-gram cache, a nucleus). A view:
/// lives no longer than the entries. Models LawOf<_, Id>.
/// Pre: ids are valid, strictly ascending and below `vocabulary`; weights are not negative.
/// Errors: specdec::error where the precondition or a positive, finite sum is missing.
/// Complexity: n entries: O(n) to construct and for at(u), O(log n) for probability. Allocates
/// nothing.
template <class Id>
class sparse_law {
public:
    using id_type = Id;

    sparse_law(std::span<const weighted_id<Id>> entries, std::size_t vocabulary)
        : entries_(entries), vocabulary_(vocabulary) {
        bool valid = true;
        Id previous{};
        for (const auto& [id, weight] : entries_) {
            valid = valid && previous < id && weight >= 0;
            previous = id;
            total_ += static_cast<double>(weight);
        }
        if (!valid || entries_.empty() || previous.index() >= vocabulary_)
            fail("sparse law", "entries",
                 "expected ids in ascending order inside the vocabulary, weights of at least 0");
        if (!(total_ > 0) || !(total_ <= 1e300))
            fail("sparse law", "weights", "expected a positive, finite sum");
    }

    [[nodiscard]] std::size_t size() const { return vocabulary_; }
    [[nodiscard]] std::span<const weighted_id<Id>> entries() const { return entries_; }

    /// Sum of the weights, which probabilities are parts of.
    [[nodiscard]] double total() const { return total_; }

    [[nodiscard]] double probability(Id id) const {
        const std::size_t at = first_where(std::size_t{0}, entries_.size(),
                                           [&](std::size_t k) { return entries_[k].id >= id; });
        const bool found = at < entries_.size() && entries_[at].id == id;
        return found ? static_cast<double>(entries_[at].weight) / total_ : 0.0;
    }

    /// The probabilities of ids first, first + 1, ...: one search for all of them.
    void probabilities(std::size_t first, std::span<double> values) const {
        for (double& value : values)
            value = 0;
        std::size_t k = first_where(std::size_t{0}, entries_.size(),
                                    [&](std::size_t i) { return entries_[i].id.index() >= first; });
        for (; k < entries_.size() && entries_[k].id.index() - first < values.size(); ++k)
            values[entries_[k].id.index() - first] =
                static_cast<double>(entries_[k].weight) / total_;
    }

    template <UnitNumber U>
    [[nodiscard]] Id at(U u) const {
        const U mass = u * total_;
        double reached = 0;
        Id last{};
        for (const auto& [id, weight] : entries_) {
            if (!(weight > 0))
                continue;
            last = id;
            reached += static_cast<double>(weight);
            if (mass < reached)
                break;
        }
        return last; // past the end only by rounding: the last id with mass
    }

private:
    std::span<const weighted_id<Id>> entries_;
    std::size_t vocabulary_;
    double total_ = 0;
};

} // namespace specdec
