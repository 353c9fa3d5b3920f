// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/drafting.hpp>
#include <specdec/draft/acceptance_table.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/token_rate.hpp>

namespace specdec {

/// How much of a text that was looked up is proposed: it costs nothing to draft, so all that counts
/// is what the target's pass over it costs. Of the tokens d_1 .. d_m, all known beforehand,
///
///     n = argmax over n of  (a_1 + a_1 a_2 + .. + a_1 .. a_n) - rate (pass(1 + n) - pass(1))
///
/// where a_i is what the table has learnt of tokens as sure as d_i, and rate as
/// profitable_length's. Every token that was found teaches the table, proposed or not, as the text
/// tells whether it would have been kept. So a text that repeats nothing is soon left alone, and
/// nothing has to be spent on finding out when it begins to. Looks at no clock.
///
/// One object for each text; table and costs are borrowed, and several texts may share them.
/// Changes on commit only. Allocates nothing.
class lookup_length {
public:
    lookup_length(acceptance_table& table, const cost_table& costs)
        : table_(&table), costs_(&costs), rate_(costs.pass_over(1)) {}

    /// How many texts share a pass of the target from now on: a position costs its share. Returns
    /// by which factor that changes the cost of a round that proposes nothing. Between rounds.
    double share_pass(std::size_t texts) {
        const double before = spent(0);
        texts_ = static_cast<double>(texts > 0 ? texts : 1);
        const double factor = spent(0) / before;
        rate_.scale(factor);
        return factor;
    }

    /// The best that can be proposed of some tokens: so many of them, worth so much more than none.
    struct proposed_part {
        std::size_t tokens = 0;
        double worth = 0;

        /// The tokens, if they are worth more than that.
        [[nodiscard]] std::size_t over(double least) const { return worth > least ? tokens : 0; }
    };
    /// Of the tokens whose progress is given; none if there are none. The worth may be negative.
    [[nodiscard]] proposed_part best(std::span<const draft_progress> steps) const {
        const double least = rate();
        proposed_part out;
        double reached = 1, gain = 0;
        for (std::size_t n = 1; n <= steps.size(); ++n) {
            reached *= table_->accept(steps[n - 1]);
            gain += reached;
            const double worth = gain - least * (spent(n) - spent(0));
            if (n == 1 || worth > out.worth)
                out = {n, worth};
        }
        return out;
    }
    /// How many of them are proposed where nothing else would be.
    [[nodiscard]] std::size_t choose(std::span<const draft_progress> steps) const {
        return best(steps).over(0);
    }

    /// The chance that a token is kept whose progress is given, if all before it are.
    [[nodiscard]] double accept(const draft_progress& step) const { return table_->accept(step); }

    /// A round was committed: so much was proposed, became part of the text, and this would have
    /// become of all that was found.
    void learn(std::size_t proposed, std::size_t committed, const draft_outcome& found) {
        learn(found);
        spend(static_cast<double>(committed), spent(proposed));
    }
    /// The parts of that: what would have become of what was found, and what a round gave and cost.
    void learn(const draft_outcome& found) { table_->learn(found); }
    void spend(double tokens, double cost) { rate_.count(tokens, cost); }

    /// Tokens a unit of cost that a draft has to beat.
    [[nodiscard]] double rate() const { return rate_.over(spent(0)); }

    /// This text's share of a pass in which each text has n proposals.
    [[nodiscard]] double spent(std::size_t n) const { return spent(n, *costs_); }
    /// The same by other costs.
    [[nodiscard]] double spent(std::size_t n, const cost_table& costs) const {
        return costs.share_of_pass(1 + static_cast<double>(n), texts_);
    }
    [[nodiscard]] const cost_table& costs() const { return *costs_; }

private:
    acceptance_table* table_;
    const cost_table* costs_;
    double texts_ = 1;
    token_rate rate_; // of the last rounds
};

} // namespace specdec
