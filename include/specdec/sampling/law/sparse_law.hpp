// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/basic/first_where.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law.hpp>
#include <specdec/sampling/law/block_of.hpp>
#include <specdec/sampling/law/floating_point.hpp>

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
/// Complexity: n entries: O(n) to construct, about n / 128 of them for at(u), O(log n) for
/// probability. Allocates nothing; about 1 KB large.
template <class Id>
class sparse_law {
public:
    using id_type = Id;

    sparse_law(std::span<const weighted_id<Id>> entries, std::size_t vocabulary)
        : entries_(entries), vocabulary_(vocabulary),
          block_((entries.size() / block_limit + 16) / 16 * 16),
          blocks_((entries.size() + block_ - 1) / block_) {
        double reached = 0;
        std::uint32_t before = ~std::uint32_t{0}, signs = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            double sums[4] = {}; // chains of additions
            for (std::size_t k = 0; k < block(b).size(); ++k) {
                const auto& [id, weight] = block(b)[k];
                const auto value = static_cast<std::uint32_t>(id.value);
                signs |= value | (value - before - 1) | std::bit_cast<std::uint32_t>(weight);
                before = value;
                sums[k % 4] += static_cast<double>(weight);
            }
            reached += (sums[0] + sums[1]) + (sums[2] + sums[3]);
            ends_[b] = reached;
        }
        // No sign bit: no id or weight is negative, none is above the next. (-0 is looked at.)
        if (entries_.empty() || before >= vocabulary_ || (signs >> 31 != 0 && !is_valid()))
            fail("sparse law", "entries",
                 "expected ids in ascending order inside the vocabulary, weights of at least 0");
        if (!(total() > 0) || !(total() <= 1e300))
            fail("sparse law", "weights", "expected a positive, finite sum");
    }

    [[nodiscard]] std::size_t size() const { return vocabulary_; }
    [[nodiscard]] std::span<const weighted_id<Id>> entries() const { return entries_; }

    /// Sum of the weights, which probabilities are parts of.
    [[nodiscard]] double total() const { return ends_[blocks_ - 1]; }

    [[nodiscard]] double probability(Id id) const {
        const std::size_t at = first_where(std::size_t{0}, entries_.size(),
                                           [&](std::size_t k) { return entries_[k].id >= id; });
        const bool found = at < entries_.size() && entries_[at].id == id;
        return found ? static_cast<double>(entries_[at].weight) / total() : 0.0;
    }

    /// In nats. O(n), with a logarithm each.
    [[nodiscard]] double entropy() const {
        double sum = 0;
        for (const auto& [id, weight] : entries_)
            if (weight > 0)
                sum += static_cast<double>(weight) * builtin::log(static_cast<double>(weight));
        return builtin::log(total()) - sum / total();
    }

    /// The probabilities of ids first, first + 1, ...: one search for all of them.
    void probabilities(std::size_t first, std::span<double> values) const {
        for (double& value : values)
            value = 0;
        std::size_t k = first_where(std::size_t{0}, entries_.size(),
                                    [&](std::size_t i) { return entries_[i].id.index() >= first; });
        for (; k < entries_.size() && entries_[k].id.index() - first < values.size(); ++k)
            values[entries_[k].id.index() - first] =
                static_cast<double>(entries_[k].weight) / total();
    }

    template <UnitNumber U>
    [[nodiscard]] Id at(U u) const {
        const U mass = u * total();
        const std::size_t b = block_of(mass, std::span(ends_).first(blocks_));
        double reached = b > 0 ? ends_[b - 1] : 0.0;
        Id last{};
        for (const auto& [id, weight] : block(b)) {
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
    static constexpr std::size_t block_limit = 128;

    [[nodiscard]] std::span<const weighted_id<Id>> block(std::size_t b) const {
        const std::size_t begin = b * block_, left = entries_.size() - begin;
        return entries_.subspan(begin, left < block_ ? left : block_);
    }
    [[nodiscard]] bool is_valid() const {
        Id previous{};
        for (const auto& [id, weight] : entries_) {
            if (!(previous < id && weight >= 0))
                return false;
            previous = id;
        }
        return true;
    }

    std::span<const weighted_id<Id>> entries_;
    std::size_t vocabulary_;
    std::size_t block_;
    std::size_t blocks_;
    std::array<double, block_limit> ends_; ///< weight of the blocks up to and with b
};

} // namespace specdec
