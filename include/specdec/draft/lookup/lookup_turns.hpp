// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/drafting.hpp>
#include <specdec/draft/draft_outcome.hpp>
#include <specdec/draft/lookup/lookup_length.hpp>

namespace specdec {

/// Whose turn a round is, where a lookup stands beside a drafter: the lookup's if what it found is
/// expected to be worth more than what the drafter's rounds have been. Of the found tokens d_1 ..
/// d_m, at the rate of tokens a unit of cost at which the text goes (lookup_length),
///
///     n, worth := max over n of  (a_1 + a_1 a_2 + .. + a_1 .. a_n) - rate (pass(1 + n) - pass(1))
///     beside   := mean over the drafter's rounds of  (tokens - 1) - rate (cost - pass(1))
///     the lookup's turn if worth > beside; it proposes n tokens
///
/// Both are known before anything is drawn. Each side learns its own: what was found teaches the
/// lookup's table in every round, whoever spoke; the drafter's mean moves with its rounds alone. A
/// found token costs a position of the pass and no draft. Looks at no clock. Borrows table and
/// costs. Changes on commit only. Allocates nothing.
class lookup_turns {
public:
    /// found, drafted: what a round of the lookup costs, and one of the drafter.
    lookup_turns(acceptance_table& table, const cost_table& found, const cost_table& drafted)
        : length_(table, found), drafted_(&drafted) {}

    /// As lookup_length.
    void share_pass(std::size_t texts) { cost_ *= length_.share_pass(texts); }

    /// How many of the tokens whose progress is given are proposed; 0: it is the drafter's turn.
    [[nodiscard]] std::size_t choose(std::span<const draft_progress> found) const {
        return length_.choose(found, beside());
    }
    /// The same in the place of a drafter that proposes nothing.
    [[nodiscard]] std::size_t choose_alone(std::span<const draft_progress> found) const {
        return length_.choose(found);
    }

    /// What a round of the drafter is worth, in tokens.
    [[nodiscard]] double beside() const { return (tokens_ - length_.rate() * cost_) / rounds_; }

    /// A round was committed, of so many tokens. It proposed so many, which the lookup had found,
    /// or the drafter had made of `drafted` draws of its own.
    struct round {
        bool looked_up = false;
        std::size_t proposed = 0, drafted = 0, committed = 0;
    };
    void learn(const round& r, const draft_outcome& found) {
        const double cost =
            (r.looked_up ? length_.spent(r.proposed) : length_.spent(r.proposed, *drafted_)) +
            drafted_->draft_of(static_cast<double>(r.drafted));
        const auto tokens = static_cast<double>(r.committed);
        length_.learn(found);
        length_.spend(tokens, cost);
        if (r.looked_up)
            return;
        rounds_ = rounds_ * fading + 1;
        tokens_ = tokens_ * fading + tokens - 1;
        cost_ = cost_ * fading + cost - length_.spent(0);
    }

private:
    static constexpr double fading = 0.98;

    lookup_length length_;
    const cost_table* drafted_;
    // Of the drafter's rounds, older ones fading, beyond what a round without a draft gives and
    // costs; as if there had been eight of those.
    double rounds_ = 8, tokens_ = 0, cost_ = 0;
};

} // namespace specdec
