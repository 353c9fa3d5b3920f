// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/head/exits/confidence_exit.hpp>
#include <specdec/head/exits/exit_thresholds.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

/// Chooses the first exit whose drawn token is likely enough. Paper: S2D (Kavehzadeh et al. 2024),
/// Alg. 1 as printed, x, c ~ p_S, where a kept token does not have the law q_e
/// (docs/adapt/exits.md). With
///
///     A_e := { x : q_e(x) >= tau_e },   S_e := q_e(A_e),
///
/// exit e is chosen with probability S_e if those before it were not, and then q := q_e restricted
/// to A_e, renormalised: the joint law of exit and token is the paper's, and no drawn token is
/// dropped. If the last exit has a threshold and is not chosen, the draft ends.
///
/// q_e is the law of the exit's row under `sampling`, which should be the draft's parameters.
/// Logits outside A_e become -infinity, so the bridge's law of the row is the restricted one (top_p
/// then cuts once more). At temperature 0 it does what confidence_exit does.
///
/// The choice of exit e behind n tokens is a draw at site (n, purpose::exit, e), the same whenever
/// it is asked for. Given all these draws the drafter is a function of the context alone, and any
/// such drafter is lossless.
///
/// Models ExitChoice. Borrows the coins, one for each sequence; a text's own coin will do, since
/// nothing else draws at these sites. Complexity: a softmax_law and two reads of the row. Allocates
/// nothing. Errors: specdec::error for sampling parameters out of range, for a model with other
/// sequences than coins.
template <Coin C>
class sampled_token_exit : public confidence_exit {
public:
    sampled_token_exit(exit_thresholds thresholds, const sampling_parameters& sampling,
                       std::span<C> coins)
        : confidence_exit(std::move(thresholds)), sampling_(sampling), coins_(coins) {
        validate(sampling_);
    }

    void check(std::size_t exits, std::size_t sequences) const {
        confidence_exit::check(exits, sequences);
        if (coins_.size() != sequences)
            fail("sampled token exit", "coins",
                 "expected a random source for each of " + std::to_string(sequences) +
                     " sequences, found " + std::to_string(coins_.size()));
    }
    [[nodiscard]] bool speaks(std::size_t s, std::size_t place, std::size_t exit,
                              std::span<float> row) const {
        const double tau = thresholds()[exit];
        if (!(tau > 0) || sampling_.temperature == 0 || !any_allowed(row))
            return confidence_exit::speaks(s, place, exit, row);
        const passing a = those_that_pass(row, tau);
        if (!(a.mass > 0))
            return false;
        const draw_site site{place, purpose::exit, static_cast<std::uint32_t>(exit)};
        if (!a.all && !coins_[s].flip(site, a.mass))
            return false;
        for (float& logit : row)
            if (logit < a.least)
                logit = -builtin::infinity;
        return true;
    }

private:
    /// A_e: the tokens whose logit is at least `least`, since likelier tokens have larger logits.
    struct passing {
        double mass = 0;
        float least = builtin::infinity;
        bool all = true; ///< all tokens that have mass
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

    sampling_parameters sampling_;
    std::span<C> coins_;
};

} // namespace specdec
