// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/error.hpp>
#include <specdec/head/exits/exit_thresholds.hpp>

namespace specdec {

struct exit_aim {
    /// The share of an exit's tokens that the target should keep. Near the last exit's rate,
    /// shallow exits save layers without lowering acceptance; a lower share makes drafts cheaper.
    double kept = 0.8;
    /// How far one token that is not kept moves a threshold, for `kept` near 1.
    double step = 0.02;
};

/// Moves thresholds by what the target keeps (ours); S2D finds them by trial for each target. When
/// a token of exit e was decided on,
///
///     tau_e := tau_e + step (kept_share - 1)   it was kept,
///              tau_e + step kept_share         it was not,        within [0, 1],
///
/// so that tau_e moves until kept_share of the exit's tokens are kept, if any threshold does that.
/// `learn` changes the thresholds, between rounds: lossless, because what is drafted next may
/// depend on all that was seen. Complexity of a call: linear in the draft's tokens. Allocates
/// nothing. Errors: specdec::error for an aim outside (0, 1).
class exit_controller {
public:
    explicit exit_controller(const exit_aim& aim = {}) : aim_(aim) {
        if (!(aim.kept > 0 && aim.kept < 1))
            fail("exit controller", "kept", "expected a share between 0 and 1");
        if (!(aim.step > 0 && aim.step < 1))
            fail("exit controller", "step", "expected a number between 0 and 1");
    }

    /// Moves the threshold of an exit whose token was kept or not. An exit without a threshold, or
    /// one that is never asked, stays so.
    void decided(exit_thresholds& tau, std::size_t exit, bool kept) const {
        if (exit >= tau.values().size() || tau[exit] == exit_thresholds::never)
            return;
        const double moved = tau[exit] + aim_.step * (kept ? aim_.kept - 1 : aim_.kept);
        tau.set(exit, moved < 0 ? 0 : moved > 1 ? 1 : moved);
    }

    /// A round's draft: sequence s of `drafter` (early_exit_model), its first token drawn behind
    /// `first` tokens of the context, `kept` of its tokens kept, and whether the next one was
    /// rejected (see draft_outcome). Before the next draft, for bridges that ask for the rows of
    /// the drawn draft only (not SLRS or merge).
    template <class Exits>
    void learn(exit_thresholds& tau, const Exits& drafter, std::size_t s, std::size_t first,
               std::size_t kept, bool rejected) const {
        for (std::size_t i = 0; i < kept + (rejected ? 1 : 0); ++i)
            decided(tau, drafter.exit_of(s, first + i - 1), i < kept);
    }

private:
    exit_aim aim_;
};

} // namespace specdec
