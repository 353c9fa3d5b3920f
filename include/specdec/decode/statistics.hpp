// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// What a session counts, over all its sequences. A round counts when it is committed, with 0
/// tokens, too; an abandoned round adds to the times only. So the numbers add up: emitted =
/// committed + discarded, and emitted = accepted + corrected + free + residual.
struct statistics {
    std::uint64_t rounds = 0;       ///< committed rounds = target calls used
    std::uint64_t draft_tokens = 0; ///< tokens the drafter drew, in its own vocabulary
    std::uint64_t proposed = 0;     ///< target tokens proposed
    std::uint64_t evaluated = 0;    ///< accepted proposals and the first rejected of a round
    std::uint64_t accepted = 0;     ///< proposals accepted
    std::uint64_t looked_up = 0;    ///< proposals that no drafter made: text seen before, or forced
    std::uint64_t looked_up_accepted = 0; ///< of these, kept
    std::uint64_t corrected = 0;          ///< tokens that replaced a rejected proposal
    std::uint64_t free = 0;      ///< target's own tokens behind a wholly accepted or empty draft
    std::uint64_t residual = 0;  ///< target's tokens where the draft's law ended the draft
    std::uint64_t committed = 0; ///< tokens that became part of the text
    std::uint64_t discarded = 0; ///< emitted tokens behind an end (EOS, stop string, limit, cancel)

    double draft_seconds = 0;  ///< drafter and bridge
    double target_seconds = 0; ///< the target's forward passes
    double verify_seconds = 0; ///< the verification rule

    /// [max proposals] how often the proposal at each place of the draft was evaluated and
    /// accepted; accepted_at / rounds is the acceptance rate at a place.
    std::vector<std::uint64_t> evaluated_at;
    std::vector<std::uint64_t> accepted_at;

    /// [max proposals + 1] rounds by how many target tokens were proposed.
    std::vector<std::uint64_t> rounds_by_proposals;

    /// Rounds without a proposal, by reason (index: no_draft).
    std::array<std::uint64_t, no_draft_reasons> without_draft{};

    /// Places per draft that are told apart. Allocates.
    void reserve(std::size_t places) {
        evaluated_at.assign(places, 0);
        accepted_at.assign(places, 0);
        rounds_by_proposals.assign(places + 1, 0);
    }

    /// Proposals of a round that were looked up, and those of them that were kept.
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

    /// Tokens a target call, 0 before the first.
    [[nodiscard]] double tokens_per_target_call() const {
        return rounds == 0 ? 0.0 : static_cast<double>(committed) / static_cast<double>(rounds);
    }
    /// Target tokens proposed a target call, 0 before the first.
    [[nodiscard]] double proposed_a_call() const {
        return rounds == 0 ? 0.0 : static_cast<double>(proposed) / static_cast<double>(rounds);
    }
    /// Accepted / proposed, 0 before the first proposal. Proposals after the first rejected one
    /// count as not accepted, as in vLLM and llama.cpp. In a tree every node is a proposal.
    [[nodiscard]] double acceptance_rate() const {
        return proposed == 0 ? 0.0 : static_cast<double>(accepted) / static_cast<double>(proposed);
    }
    /// Accepted / evaluated, 0 before the first proposal: how often a proposal is accepted, given
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
    std::uint64_t passes = 0;    ///< of the target, over all texts
    std::uint64_t sequences = 0; ///< sum over the passes of the texts that took part
    std::uint64_t rows = 0;      ///< sum over the passes of the positions scored
    /// Of the drafters' model, over all texts; counted by `speculation`
    /// (row_batching_model::passes).
    std::uint64_t draft_passes = 0;

    [[nodiscard]] double rows_per_pass() const {
        return passes == 0 ? 0.0 : static_cast<double>(rows) / static_cast<double>(passes);
    }
};

} // namespace specdec
