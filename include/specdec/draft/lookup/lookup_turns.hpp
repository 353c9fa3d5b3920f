// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/drafting.hpp>
#include <specdec/draft/draft_outcome.hpp>
#include <specdec/draft/lookup/lookup_length.hpp>

namespace specdec {

/// What rounds of a drafter were worth in tokens where forced text was found, beyond that text: a
/// mean in which older rounds fade. Texts under grammars may share one.
class drafter_ahead {
public:
    /// Whether too little is known, so that the drafter has to have a turn.
    [[nodiscard]] bool unknown() const { return rounds_ < least_rounds; }
    /// The mean, as if it had begun with rounds that were worth `before`.
    [[nodiscard]] double mean(double before) const {
        return (worth_ + least_rounds * before) / (rounds_ + least_rounds);
    }
    /// Forced text was found in another round.
    void fade() {
        rounds_ *= fading;
        worth_ *= fading;
    }
    /// The drafter had its turn there.
    void count(double worth) {
        rounds_ += 1;
        worth_ += worth;
    }

private:
    static constexpr double fading = 0.98;
    static constexpr double least_rounds = 2;

    double rounds_ = 0, worth_ = 0;
};

/// What a round of the drafter is worth where the found text is worth x, in tokens beyond a round
/// without a draft: a line, fitted by least squares to the drafter's rounds, older ones fading.
/// Where a text repeats itself the drafter does well, too, so its mean alone would be too low
/// there.
///
///     beside(x) := mean(y) + b (x - mean(x)),   y = tokens - rate cost
///     b         := (S_xy + r / 2) / (S_xx + r)
///
/// with the sums S of products around the means. The ridge r draws the slope to a half while little
/// is known.
class drafter_beside {
public:
    /// A round of the drafter, where the found text was worth x, gave so many tokens more than one
    /// without a draft, and cost so much more.
    void count(double x, double tokens, double cost) {
        sum_ = {sum_.rounds * fading + 1,       sum_.x * fading + x,
                sum_.x_x * fading + x * x,      sum_.tokens * fading + tokens,
                sum_.cost * fading + cost,      sum_.x_tokens * fading + x * tokens,
                sum_.x_cost * fading + x * cost};
    }
    /// All rounds cost so many times what they did.
    void scale(double factor) {
        sum_.cost *= factor;
        sum_.x_cost *= factor;
    }
    /// At so many tokens a unit of cost.
    [[nodiscard]] double mean(double rate) const {
        return (sum_.tokens - rate * sum_.cost) / sum_.rounds;
    }
    [[nodiscard]] double operator()(double x, double rate) const {
        const double middle = sum_.x / sum_.rounds, level = mean(rate);
        const double around_x = sum_.x_x - sum_.x * middle;
        const double around_both = sum_.x_tokens - rate * sum_.x_cost - sum_.x * level;
        const double slope = (around_both + ridge / 2) / (around_x + ridge);
        return level + slope * (x - middle);
    }

private:
    static constexpr double fading = 0.98;
    /// In tokens squared: the variance of a round over that of slopes, 3 / 0.25.
    static constexpr double ridge = 12;

    struct sums { // as if there had been two rounds that gave and cost nothing more
        double rounds = 2, x = 0, x_x = 0, tokens = 0, cost = 0, x_tokens = 0, x_cost = 0;
    };
    sums sum_;
};

/// Whose turn a round is, where a lookup stands beside a drafter: the lookup's if what it found is
/// expected to be worth more than a round of the drafter would be in the same place. Of the found
/// tokens d_1 .. d_m, at the rate of tokens a unit of cost at which the text goes (lookup_length),
///
///     n, worth := max over n of  (a_1 + a_1 a_2 + .. + a_1 .. a_n) - rate (pass(1 + n) - pass(1))
///     beside   := of the drafter's rounds  (tokens - 1) - rate (cost - pass(1)),  where the found
///                 text was worth as much (drafter_beside)
///     the lookup's turn if worth > beside; it proposes n tokens
///
/// A long text repeats something nearly everywhere, so the drafter would seldom show what it is
/// worth. It has a turn after three of the lookup in a row while it had fewer than four, and after
/// sixteen later.
///
/// Where the found text begins with forced tokens, a drafter under the same grammar writes them,
/// too, and more behind them. So its turns there are compared with the found text itself:
///
///     k        := how many of the n found tokens came true
///     ahead    := mean over the drafter's rounds there (drafter_ahead, which begins at `beside`)
///                 of  (tokens - 1 - k) - rate (cost - pass(1 + n))
///     the lookup's turn if ahead <= 0, but for a turn of the drafter now and then
///
/// All of it is known before anything is drawn. Each side learns its own: what was found teaches
/// the lookup's table in every round, whoever spoke; the drafter's means move with its rounds
/// alone. A found token costs a position of the pass and no draft. Looks at no clock. Borrows
/// table, costs and the shared drafter_ahead. Changes on commit only. Allocates nothing.
class lookup_turns {
public:
    /// found, drafted: what a round of the lookup costs, and one of the drafter. ahead: null where
    /// the text shares none.
    lookup_turns(acceptance_table& table, const cost_table& found, const cost_table& drafted,
                 drafter_ahead* ahead = nullptr)
        : length_(table, found), drafted_(&drafted), shared_ahead_(ahead) {}

    /// As lookup_length.
    void share_pass(std::size_t texts) { drafter_.scale(length_.share_pass(texts)); }

    /// How many of the tokens whose progress is given are proposed; 0: it is the drafter's turn.
    [[nodiscard]] std::size_t choose(std::span<const draft_progress> found) const {
        if (begins_forced(found))
            return of_forced().unknown() || ahead() > 0 ? 0 : length_.choose(found);
        if (waited_ >= (spoke_ < few ? patience : long_patience))
            return 0;
        const lookup_length::proposed_part best = length_.best(found);
        return best.over(drafter_(best.worth, length_.rate()));
    }
    /// The same in the place of a drafter that proposes nothing.
    [[nodiscard]] std::size_t choose_alone(std::span<const draft_progress> found) const {
        return length_.choose(found);
    }

    /// What a round of the drafter is worth, in tokens: the mean.
    [[nodiscard]] double beside() const { return drafter_.mean(length_.rate()); }
    /// What it is worth beyond found text that begins with forced tokens.
    [[nodiscard]] double ahead() const { return of_forced().mean(beside()); }

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
        const bool forced = begins_forced(found.steps);
        const lookup_length::proposed_part instead = // in the drafter's place
            r.looked_up ? lookup_length::proposed_part{} : length_.best(found.steps);
        length_.learn(found);
        length_.spend(tokens, cost);
        if (forced)
            of_forced().fade();
        waited_ = r.looked_up ? waited_ + 1 : 0;
        if (r.looked_up)
            return;
        spoke_ += spoke_ < few ? 1U : 0U;
        if (forced) {
            const std::size_t n = instead.over(0);
            const auto came_true = static_cast<double>(found.kept < n ? found.kept : n);
            of_forced().count(tokens - 1 - came_true - length_.rate() * (cost - length_.spent(n)));
            return;
        }
        drafter_.count(instead.worth, tokens - 1, cost - length_.spent(0));
    }

private:
    static constexpr std::size_t few = 4, patience = 3, long_patience = 16; // rounds

    [[nodiscard]] static bool begins_forced(std::span<const draft_progress> found) {
        return !found.empty() && found[0].certainty != token_certainty::guessed;
    }
    [[nodiscard]] const drafter_ahead& of_forced() const {
        return shared_ahead_ != nullptr ? *shared_ahead_ : own_ahead_;
    }
    [[nodiscard]] drafter_ahead& of_forced() {
        return shared_ahead_ != nullptr ? *shared_ahead_ : own_ahead_;
    }

    lookup_length length_;
    const cost_table* drafted_;
    drafter_ahead* shared_ahead_;
    drafter_ahead own_ahead_;
    drafter_beside drafter_;
    std::size_t spoke_ = 0;  // the drafter, up to `few` times
    std::size_t waited_ = 0; // rounds of the lookup since the drafter's last
};

} // namespace specdec
