// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace specdec {

/// What a round took, in seconds; 0 where nobody measured.
struct round_seconds {
    double pass = 0; ///< the target's, or this text's share of it
    double rest = 0; ///< drafter, bridge and decision
};

/// What a draft token costs in the rounds that texts make, in passes of the target over one
/// position: cutoffs, processors, residuals and the drafts that decisions look at are in it, which
/// a measurement before any text cannot know. The line through what rounds took beside the pass,
/// over the drafter's forwards, by least squares; older rounds fade. It begins at the measured
/// cost. A round that the system interrupts moves it little: none counts for more than three times
/// what was expected. Allocates nothing.
class draft_cost {
public:
    explicit draft_cost(double measured = 0) : measured_(measured), now_(measured) {}

    /// A draft token's, at least a quarter of what was measured.
    [[nodiscard]] double now() const { return now_; }

    /// A round that took `forwards` of the drafter, whose pass should cost `pass` passes over one
    /// position. The drafter was up to date and the prompt fed before. Ignored if nobody measured.
    void learn(double pass, std::size_t forwards, round_seconds took) {
        if (!(took.pass > 0) || !(took.rest >= 0))
            return;
        const auto n = static_cast<double>(forwards);
        if (rounds_ >= 4) {
            took.pass = least(took.pass, 3 * unit() * pass);
            took.rest = least(took.rest, 3 * unit() * (now_ * n + 0.25));
        }
        rounds_ = rounds_ * fading + 1;
        passes_ = passes_ * fading + pass;
        pass_seconds_ = pass_seconds_ * fading + took.pass;
        forwards_ = forwards_ * fading + n;
        squares_ = squares_ * fading + n * n;
        rest_ = rest_ * fading + took.rest;
        products_ = products_ * fading + took.rest * n;
        const double rounds = rounds_ + known_rounds, squares = squares_ + known_drafts;
        const double rest = rest_ / unit();
        const double products = products_ / unit() + known_drafts * measured_;
        const double slope =
            (rounds * products - forwards_ * rest) / (rounds * squares - forwards_ * forwards_);
        now_ = slope > measured_ / 4 ? slope : measured_ / 4;
    }

private:
    // As if so many rounds without a draft had taken nothing, and so many of one draft token what
    // was measured, apart from what they have in common.
    static constexpr double fading = 0.99, known_rounds = 4, known_drafts = 4;

    [[nodiscard]] static double least(double a, double b) { return a < b ? a : b; }
    /// Seconds of a pass over one position.
    [[nodiscard]] double unit() const { return pass_seconds_ / passes_; }

    double measured_, now_;
    double rounds_ = 0, passes_ = 0, pass_seconds_ = 0; // sums, older rounds fading
    double forwards_ = 0, squares_ = 0, rest_ = 0, products_ = 0;
};

} // namespace specdec
