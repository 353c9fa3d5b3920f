// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// What a session counts, over all its sequences. A round counts when it is committed, even with 0
/// tokens. An abandoned round adds to the times only. Therefore emitted = committed + discarded,
/// and emitted = accepted + corrected + free + residual.
struct statistics {
    /// Committed rounds. Each has used one pass of the target.
    std::uint64_t rounds = 0;
    /// Tokens that the drafter drew, in its own vocabulary.
    std::uint64_t draft_tokens = 0;
    /// Passes of the drafter in which it drafted trees: one per level, if it scores trees.
    std::uint64_t tree_passes = 0;
    /// Target tokens that were proposed.
    std::uint64_t proposed = 0;
    /// Proposals that were verified: the accepted ones and the first rejected one of each round.
    std::uint64_t evaluated = 0;
    /// Proposals that were accepted.
    std::uint64_t accepted = 0;
    /// Proposals that no drafter made: looked-up text and text that a grammar forces.
    std::uint64_t looked_up = 0;
    /// Proposals among `looked_up` that were accepted.
    std::uint64_t looked_up_accepted = 0;
    /// Corrected tokens: the target's replacements of rejected proposals.
    std::uint64_t corrected = 0;
    /// Bonus tokens: the target's own tokens after a draft that was empty or accepted whole.
    std::uint64_t free = 0;
    /// Residual tokens: the target's tokens where the draft ended by its own distribution.
    std::uint64_t residual = 0;
    /// Tokens that became part of the output.
    std::uint64_t committed = 0;
    /// Tokens after the end of the output: an end token, a stop string, a limit or a cancellation.
    std::uint64_t discarded = 0;

    /// Seconds in the drafter and the bridge.
    double draft_seconds = 0;
    /// Seconds in the target's passes.
    double target_seconds = 0;
    /// Seconds in the verifier.
    double verify_seconds = 0;

    /// [max_proposals] How often the proposal at each place of a draft was verified.
    std::vector<std::uint64_t> evaluated_at;
    /// [max_proposals] How often it was accepted. Divided by `rounds` it is the acceptance rate at
    /// that place.
    std::vector<std::uint64_t> accepted_at;

    /// [max_proposals + 1] Rounds by the number of proposed target tokens.
    std::vector<std::uint64_t> rounds_by_proposals;

    /// Rounds without a proposal, by their reason: the index is a no_draft.
    std::array<std::uint64_t, no_draft_reasons> without_draft{};

    /// Places per draft that are told apart. Allocates.
    void reserve(std::size_t places) {
        evaluated_at.assign(places, 0);
        accepted_at.assign(places, 0);
        rounds_by_proposals.assign(places + 1, 0);
    }

    /// Proposals of a round that were looked up, and those of them that were accepted.
    struct found {
        std::size_t proposed = 0, accepted = 0;
    };
    /// A round of which the first n tokens are committed.
    void count(const verdict& v, std::size_t n, std::size_t proposals, std::size_t drafted,
               no_draft reason, found of_them = {0, 0}) {
        ++rounds;
        committed += n;
        discarded += v.emitted() - n;
        draft_tokens += drafted;
        proposed += proposals;
        evaluated += v.evaluated;
        accepted += v.accepted;
        looked_up += of_them.proposed;
        looked_up_accepted += of_them.accepted;
        if (v.next.valid())
            (v.origin == token_origin::corrected  ? corrected
             : v.origin == token_origin::residual ? residual
                                                  : free) += 1;
        if (proposals == 0)
            ++without_draft[static_cast<std::size_t>(reason)];
        if (proposals < rounds_by_proposals.size())
            ++rounds_by_proposals[proposals];
        for (std::size_t i = 0; i < v.evaluated && i < evaluated_at.size(); ++i)
            ++evaluated_at[i];
        for (std::size_t i = 0; i < v.accepted && i < accepted_at.size(); ++i)
            ++accepted_at[i];
    }

    /// Committed tokens per target pass; 0 before the first pass.
    [[nodiscard]] double tokens_per_target_call() const {
        return rounds == 0 ? 0.0 : static_cast<double>(committed) / static_cast<double>(rounds);
    }
    /// Proposed target tokens per target pass; 0 before the first pass.
    [[nodiscard]] double proposed_a_call() const {
        return rounds == 0 ? 0.0 : static_cast<double>(proposed) / static_cast<double>(rounds);
    }
    /// Rounds with at least one proposal.
    [[nodiscard]] std::uint64_t rounds_with_draft() const {
        std::uint64_t n = rounds;
        for (const std::uint64_t without : without_draft)
            n -= without;
        return n;
    }
    /// Mean accepted length: 1 + accepted / rounds with a draft, as vLLM's mean acceptance length;
    /// 1 before the first draft. It is what a draft gains, also if many rounds have none, and it
    /// counts the target's own token, also if the output ends before that.
    [[nodiscard]] double mean_accepted_length() const {
        const std::uint64_t n = rounds_with_draft();
        return n == 0 ? 1.0 : 1 + static_cast<double>(accepted) / static_cast<double>(n);
    }
    /// Accepted / proposed; 0 before the first proposal. Proposals after the first rejected one
    /// count as not accepted, as in vLLM and llama.cpp. In a tree every node is a proposal.
    [[nodiscard]] double acceptance_rate() const {
        return proposed == 0 ? 0.0 : static_cast<double>(accepted) / static_cast<double>(proposed);
    }
    /// Accepted / evaluated; 0 before the first proposal: how often a proposal is accepted, given
    /// that all proposals before it were. Symbols: an estimate of alpha in Leviathan et al. 2023.
    [[nodiscard]] double conditional_acceptance_rate() const {
        return evaluated == 0 ? 0.0
                              : static_cast<double>(accepted) / static_cast<double>(evaluated);
    }
};

/// A pass of the target that several texts shared, as each of them is told.
struct shared_pass {
    std::uint64_t number = 0;  ///< among the batch's passes, from 1
    std::size_t positions = 0; ///< scored in it, of all texts; 0: there was none
    double seconds = 0;        ///< it took; 0: nobody measured
};

/// What a batch counts.
struct batch_counts {
    /// Passes of the target.
    std::uint64_t passes = 0;
    /// The sum, over these passes, of the sequences that took part.
    std::uint64_t sequences = 0;
    /// The sum, over these passes, of the scored positions.
    std::uint64_t rows = 0;
    /// Passes of the drafter's model over all sequences. Only `speculation` counts them
    /// (row_batching_model::passes).
    std::uint64_t draft_passes = 0;

    /// Scored positions per target pass; 0 before the first pass.
    [[nodiscard]] double rows_per_pass() const {
        return passes == 0 ? 0.0 : static_cast<double>(rows) / static_cast<double>(passes);
    }
};

} // namespace specdec
