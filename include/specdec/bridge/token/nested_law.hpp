// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/law.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/weighted_row.hpp>
#include <specdec/vocab/spelling/pieces.hpp>

namespace specdec {

/// The law of the next piece of a draft token d ~ q, given the pieces before it and that d has more
/// (ours):
///
///     q(v) = sum of q(d) over d in `range` whose next piece is v / sum of q(d) over d in `range`
///
/// `range` holds the draft tokens that begin with the pieces before and have more; for the first
/// piece it holds all. A view of the row of entries (token_pieces::gather) and of the table; about
/// 1 KB large. Models LawOf<target_id>. Complexity: probability(v) linear in the draft tokens that
/// go on with v; at(u) linear in the range (one block of the row for the first piece). Allocates
/// nothing.
class nested_law {
public:
    using id_type = target_id;

    /// mass: the sum over the range; 1 for all entries. Precondition: above 0.
    nested_law(const weighted_row& entries, const token_pieces& table, piece_range range,
               double mass)
        : entries_(entries), table_(&table), range_(range), mass_(mass) {}

    [[nodiscard]] std::size_t size() const { return table_->target_size(); }

    [[nodiscard]] double probability(target_id t) const {
        return t.valid() ? sum(table_->with_next(range_, t)) / mass_ : 0.0;
    }

    void probabilities(std::size_t first, std::span<double> values) const {
        for (double& value : values)
            value = 0;
        const std::uint32_t begin = table_->lower_bound(range_, first);
        const std::uint32_t end = table_->lower_bound(range_, first + values.size());
        visit({begin, end, range_.depth}, [&](std::size_t entry, double q) {
            values[table_->piece(entry, range_.depth).index() - first] += q / mass_;
            return false;
        });
    }

    template <UnitNumber U>
    [[nodiscard]] target_id at(U u) const {
        if (range_.depth == 0)
            return table_->piece(entries_.at(u), 0);
        const U target = u * mass_;
        double reached = 0;
        std::size_t last = range_.begin;
        visit(range_, [&](std::size_t entry, double q) {
            if (!(q > 0))
                return false;
            last = entry;
            reached += q;
            return target < reached;
        });
        return table_->piece(last, range_.depth);
    }

    /// Sum of q(d) over a range of draft tokens.
    [[nodiscard]] double sum(piece_range range) const { return sum(entries_, range); }
    [[nodiscard]] static double sum(const weighted_row& entries, piece_range range) {
        double sums[4] = {}, q[chunk]; // four chains of additions
        for (std::size_t first = range.begin; first < range.end; first += chunk) {
            const std::size_t n = range.end - first < chunk ? range.end - first : chunk;
            entries.probabilities(first, std::span(q, n));
            for (std::size_t j = n; j % 4 != 0; ++j)
                q[j] = 0;
            for (std::size_t j = 0; j < n; j += 4)
                for (std::size_t k = 0; k < 4; ++k)
                    sums[k] += q[j + k];
        }
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

private:
    static constexpr std::size_t chunk = 64;

    /// Calls f(entry, q(entry)) for the entries of a range until it returns true.
    template <class F>
    void visit(piece_range range, F&& f) const {
        double q[chunk];
        for (std::size_t first = range.begin; first < range.end; first += chunk) {
            const std::size_t n = range.end - first < chunk ? range.end - first : chunk;
            entries_.probabilities(first, std::span(q, n));
            for (std::size_t j = 0; j < n; ++j)
                if (f(first + j, q[j]))
                    return;
        }
    }

    weighted_row entries_;
    const token_pieces* table_;
    piece_range range_;
    double mass_;
};
static_assert(LawOf<nested_law, target_id>);

} // namespace specdec
