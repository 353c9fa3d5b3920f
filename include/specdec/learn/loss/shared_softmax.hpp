// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/logit_gradient.hpp>
#include <specdec/learn/loss/row_softmax.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/sampling/residual.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// The draft law seen in the target's vocabulary through the direct map t <-> d, as losses
/// differentiate it (OmniDraft, Eq. 1, first case; the law that TLI proposes from):
///
///     q'(t) = sum of q(d) over the d with map(d) = t,    q = softmax(z / T) over the shared d
///
/// The *shared tokens* of the losses are the t with a draft id whose logit is not -infinity. Draft
/// ids without a partner have no part in q', whatever their logits are, and no gradient. Borrows
/// row and map. Complexity, allocation, errors: as row_softmax (finite logits are asked of shared
/// ids only); specdec::error for a row that is not of the map's drafter.
class shared_softmax {
public:
    shared_softmax(logits_row<draft_id> z, const id_map& map, double temperature = 1)
        : map_(fitting(map, z)), q_(z, map.draft_to_target(), temperature) {}

    [[nodiscard]] const id_map& map() const { return map_; }
    /// q over the draft ids.
    [[nodiscard]] const row_softmax& row() const { return q_; }

    /// log q'(t); -infinity for a token that is not shared. Complexity: O(draft ids of t).
    [[nodiscard]] double log_probability(target_id t) const {
        const draft_id first = map_.to_draft(t);
        if (!first.valid())
            return -builtin::infinity;
        double log_q = q_.log_probability(first);
        for (draft_id d = map_.next_duplicate(first); d.valid(); d = map_.next_duplicate(d))
            log_q = log_sum(log_q, q_.log_probability(d));
        return log_q;
    }

    /// Calls f(t, p(t), log q'(t)) for every shared token, ascending. Complexity: O(|T|), and for a
    /// list of n entries a search in it each.
    template <LawOf<target_id> P, class F>
    void each(const P& p, F&& f) const {
        double values[256];
        const std::size_t size = map_.target_size();
        for (std::size_t first = 0; first < size; first += 256) {
            const std::span part(values, size - first < 256 ? size - first : 256);
            fill_probabilities(p, first, part);
            for (std::size_t j = 0; j < part.size(); ++j)
                visit(id_at<target_id>(first + j), part[j], f);
        }
    }

    /// The same for the shared tokens that p gives mass; of a list nothing else is looked at.
    template <LawOf<target_id> P, class F>
    void each_with_mass(const P& p, F&& f) const {
        const auto with_mass = [&](target_id t, double p_t, double log_q) {
            if (p_t > 0)
                f(t, p_t, log_q);
        };
        if constexpr (std::same_as<P, sparse_law<target_id>>)
            for (const auto& [t, weight] : p.entries())
                visit(t, static_cast<double>(weight) / p.total(), with_mass);
        else
            each(p, with_mass);
    }

    /// Adds w = dL / d log q'(t): to each d of t the share q(d) / q'(t) of it. Pre: t is shared.
    void add(logit_gradient& gradient, target_id t, double w) const {
        const draft_id first = map_.to_draft(t);
        if (!map_.next_duplicate(first).valid())
            return gradient.add(first, w);
        const double log_q = log_probability(t);
        for (draft_id d = first; d.valid(); d = map_.next_duplicate(d))
            gradient.add(d, w * builtin::exp(q_.log_probability(d) - log_q));
    }

private:
    static const id_map& fitting(const id_map& map, logits_row<draft_id> z) {
        require_size<draft_id>(z.size(), map.draft_size(), "shared softmax", "map");
        return map;
    }

    static double log_sum(double a, double b) {
        const double more = a > b ? a : b, less = a > b ? b : a;
        return less > -builtin::infinity ? more + builtin::log1p(builtin::exp(less - more)) : more;
    }

    template <class F>
    void visit(target_id t, double p_t, F&& f) const {
        const double log_q = log_probability(t);
        if (log_q > -builtin::infinity)
            f(t, p_t, log_q);
    }

    const id_map& map_;
    row_softmax q_;
};

} // namespace specdec
