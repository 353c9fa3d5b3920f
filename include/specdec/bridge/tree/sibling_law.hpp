// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/position_of.hpp>
#include <specdec/sampling/residual.hpp>

namespace specdec {

/// The law over T of one child of a node, of map(d) for d drawn from a law q over D:
///
///     q itself                                              independent siblings, and first ones
///     q without the tokens in `gone`, renormalised          drawn without replacement
///     one token for certain                                 the likeliest ones
///
/// All draft tokens of a gone target token are gone. Models LawOf<target_id>. Map is a small
/// copyable view, all of whose draws are in T. A view of q and of `gone`. Complexity: probability
/// is q's, for each draft token of the id; the first sibling is drawn as from q, a later one by a
/// pass over q. Allocates nothing.
template <LawOf<draft_id> Inner, class Map>
class sibling_law {
public:
    sibling_law(const Inner& q, Map map, std::span<const target_id> gone = {})
        : q_(&q), map_(map), gone_(gone) {
        for (const target_id t : gone_)
            rest_ -= of_inner(t);
        if (rest_ < least_difference)
            rest_ = in_draft_ids{*this}.sum();
    }
    [[nodiscard]] static sibling_law certain(target_id t, Map map) {
        sibling_law law(map);
        law.certain_ = t;
        return law;
    }

    /// What q leaves; there is nothing to draw where it is 0.
    [[nodiscard]] double rest() const { return rest_; }

    [[nodiscard]] std::size_t size() const { return map_.target_size(); }
    [[nodiscard]] double probability(target_id t) const {
        if (q_ == nullptr)
            return t == certain_ ? 1.0 : 0.0;
        return t.valid() && !is_gone(t) ? of_inner(t) / rest_ : 0.0;
    }
    template <UnitNumber U>
    [[nodiscard]] target_id at(U u) const {
        if (q_ == nullptr)
            return certain_;
        return map_.to_target(gone_.empty() ? q_->at(u) : in_draft_ids{*this}.at(u));
    }
    /// Draws in D. The same law as at().
    template <Coin C>
    [[nodiscard]] target_id draw(C& coin, draw_site site) const {
        if (q_ == nullptr)
            return certain_;
        return map_.to_target(gone_.empty() ? coin.pick(site, *q_)
                                            : coin.pick(site, in_draft_ids{*this}));
    }

    void probabilities(std::size_t first, std::span<double> values) const
        requires requires { requires Map::keeps_ids; }
    {
        if (q_ != nullptr)
            return in_draft_ids{*this}.probabilities(first, values);
        for (double& value : values)
            value = 0;
        if (certain_.index() - first < values.size())
            values[certain_.index() - first] = 1;
    }
    /// row[t] -= probability(t) for every t. One pass over q, whatever the map.
    void subtract_from(std::span<double> row) const {
        if (q_ == nullptr) {
            row[certain_.index()] -= 1;
            return;
        }
        in_draft_ids{*this}.visit([&](std::size_t first, std::span<const double> values) {
            for (std::size_t j = 0; j < values.size(); ++j)
                if (values[j] > 0)
                    row[map_.to_target(id_at<draft_id>(first + j)).index()] -= values[j] / rest_;
        });
    }

private:
    /// Below it, 1 - sum of what is gone would lose digits.
    static constexpr double least_difference = 1.0 / 16;

    /// The same law before it is mapped.
    struct in_draft_ids {
        const sibling_law& law;

        [[nodiscard]] std::size_t size() const { return law.q_->size(); }
        [[nodiscard]] double probability(draft_id d) const {
            return law.is_gone(law.map_.to_target(d)) ? 0.0 : law.q_->probability(d) / law.rest_;
        }
        void probabilities(std::size_t first, std::span<double> values) const {
            fill(first, values);
            for (double& value : values)
                value /= law.rest_;
        }
        template <UnitNumber U>
        [[nodiscard]] draft_id at(U u) const {
            return id_at<draft_id>(
                position_of(u * law.rest_, size(),
                            [&](std::size_t first, std::span<double> q) { fill(first, q); }));
        }
        [[nodiscard]] double sum() const {
            double all = 0;
            visit([&](std::size_t, std::span<const double> q) { all += chained_sum(q); });
            return all;
        }
        /// Calls f(first, q of first, first + 1, .. with 0 for what is gone).
        template <class F>
        void visit(F&& f) const {
            constexpr std::size_t chunk = 256;
            double values[chunk];
            for (std::size_t first = 0; first < size(); first += chunk) {
                const std::size_t n = size() - first < chunk ? size() - first : chunk;
                fill(first, std::span(values, n));
                f(first, std::span<const double>(values, n));
            }
        }

    private:
        void fill(std::size_t first, std::span<double> values) const {
            fill_probabilities(*law.q_, first, values);
            for (const target_id t : law.gone_)
                for (draft_id d = law.map_.to_draft(t); d.valid(); d = law.map_.next_duplicate(d))
                    if (d.index() - first < values.size())
                        values[d.index() - first] = 0;
        }
    };

    explicit sibling_law(Map map) : map_(map) {}

    [[nodiscard]] bool is_gone(target_id t) const { return is_one_of(gone_, t); }
    [[nodiscard]] double of_inner(target_id t) const {
        double sum = 0;
        for (draft_id d = map_.to_draft(t); d.valid(); d = map_.next_duplicate(d))
            sum += q_->probability(d);
        return sum;
    }

    const Inner* q_ = nullptr; // none: one token for certain
    Map map_;
    std::span<const target_id> gone_;
    double rest_ = 1;
    target_id certain_;
};

} // namespace specdec
