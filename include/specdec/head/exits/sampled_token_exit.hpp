// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/head/exits/confidence_exit.hpp>
#include <specdec/head/exits/exit_thresholds.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

/// The first exit speaks whose drawn token is likely enough. Paper: S2D (Kavehzadeh et al. 2024),
/// Alg. 1 as printed, x, c ~ p_S. A token is kept there only where its own probability passes, so
/// the law at an exit is not q_e (which would be the law of a token that was dropped, too). With
///
///     A_e := { x : q_e(x) >= tau_e },   S_e := q_e(A_e),
///
/// exit e speaks with probability S_e if those before it did not, and then q := q_e restricted to
/// A_e, renormalised: the same law of exit and token as the paper's, in another order. Which exit
/// speaks is drawn first, no drawn token is ever dropped, and q is what the token is drawn from,
/// whatever number S_e is. What does not pass at the last exit (where it has a threshold) ends the
/// draft.
///
/// q_e is the law of the exit's row under `sampling`: give the draft's parameters. Logits outside
/// A_e become -infinity, so that the bridge's law of the row is the restricted one (with top_p it
/// cuts that once more). At temperature 0, where q_e is all on one token, its probability is read
/// at temperature 1: confidence_exit.
///
/// Whether exit e speaks behind n tokens of the drafter is a draw at site (n, purpose::exit, e):
/// the same whenever it is asked for, by SLRS' and merge's decisions, or in a round that is drafted
/// again. Given all these draws the drafter is a function of the context alone, and any such
/// drafter is lossless; so the text does not depend on them, and rounds need no names here.
///
/// Models ExitChoice. Borrows the coins, one for each sequence; a text's own will do, since nothing
/// else draws at these sites. Complexity: a softmax_law and two reads of the row. Allocates
/// nothing. Errors: specdec::error for sampling parameters out of range, for a model with other
/// sequences than coins.
template <Coin C>
class sampled_token_exit {
public:
    sampled_token_exit(exit_thresholds thresholds, const sampling_parameters& sampling,
                       std::span<C> coins)
        : thresholds_(std::move(thresholds)), sampling_(sampling), coins_(coins) {
        validate(sampling_);
    }

    [[nodiscard]] const exit_thresholds& thresholds() const { return thresholds_; }
    /// To be changed between rounds only.
    [[nodiscard]] exit_thresholds& thresholds() { return thresholds_; }
    [[nodiscard]] law_mark mark() const { return thresholds_.mark(); }

    void check(std::size_t exits, std::size_t sequences) const {
        thresholds_.check(exits);
        if (coins_.size() != sequences)
            fail("drawn exits", "coins",
                 "expected one for each of " + std::to_string(sequences) + " sequences, got " +
                     std::to_string(coins_.size()));
    }
    [[nodiscard]] bool asks(std::size_t exit) const {
        return thresholds_[exit] != exit_thresholds::never;
    }
    [[nodiscard]] bool speaks(std::size_t s, std::size_t place, std::size_t exit,
                              std::span<float> row) const {
        const double tau = thresholds_[exit];
        if (!(tau > 0))
            return true;
        if (sampling_.temperature == 0 || !any_allowed(row))
            return row_confidence(row) >= tau;
        const passing a = those_that_pass(row, tau);
        if (!(a.mass > 0))
            return false;
        const draw_site site{place, purpose::exit, static_cast<std::uint32_t>(exit)};
        if (!a.all && !coins_[s].flip(site, a.mass))
            return false;
        for (float& logit : row)
            if (logit < a.least)
                logit = -__builtin_inff();
        return true;
    }

private:
    /// A_e: the likelier a token, the larger its logit, so it is the logits from `least` on.
    struct passing {
        double mass = 0;
        float least = __builtin_inff();
        bool all = true; ///< that have mass at all
    };
    [[nodiscard]] passing those_that_pass(std::span<const float> row, double tau) const {
        const softmax_law<draft_id> law(logits_row<draft_id>{row}, sampling_);
        passing a;
        std::array<double, 256> q;
        for (std::size_t first = 0; first < row.size(); first += q.size()) {
            const std::size_t left = row.size() - first;
            const std::size_t n = left < q.size() ? left : q.size();
            law.probabilities(first, std::span(q).first(n));
            for (std::size_t i = 0; i < n; ++i) {
                if (q[i] >= tau) {
                    a.mass += q[i];
                    a.least = row[first + i] < a.least ? row[first + i] : a.least;
                } else if (q[i] > 0) {
                    a.all = false;
                }
            }
        }
        return a;
    }

    exit_thresholds thresholds_;
    sampling_parameters sampling_;
    std::span<C> coins_;
};

} // namespace specdec
