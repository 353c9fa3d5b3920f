// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/process/log_probabilities.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// What a round decided: tokens that may be committed, in this order. They are not part of the text
/// yet. Views into the session, which live until its next call.
struct round_result {
    /// The accepted proposals and, unless the last of them is an end token, one of the target.
    std::span<const target_id> tokens;
    std::size_t accepted = 0;                    ///< tokens[0 .. accepted) were proposals
    token_origin last = token_origin::free;      ///< where the target's own token came from
    std::span<const target_id> proposed;         ///< all proposals, kept or not
    std::span<const draft_id> drafted;           ///< what the drafter made of them
    std::span<const draft_progress> steps;       ///< [drafted] of a chain: the draft after each
    no_draft reason = no_draft::none;            ///< why nothing was proposed
    round_log_probabilities log_probabilities{}; ///< of `tokens`, if the settings ask for them
    /// tokens[found .. found_end) were text that was seen before, if they were accepted
    std::size_t found = 0, found_end = 0;

    // Of a draft that is a tree:
    const token_tree<target_id>* tree = nullptr; ///< all nodes; none if nothing was proposed
    std::span<const std::size_t> path{};         ///< [accepted] the kept nodes
    std::span<const tree_node> nodes{};          ///< [drafted] how sure the drafter was
    kept_draft kept{}; ///< of the drafter's tree, whose nodes `drafted` and `nodes` tell of

    /// Whether the last accepted proposal is an end token, so that there is no token of the target.
    [[nodiscard]] bool ended() const { return tokens.size() == accepted; }
    [[nodiscard]] token_origin origin(std::size_t i) const {
        return i >= accepted                 ? last
               : i >= found && i < found_end ? token_origin::looked_up
                                             : token_origin::accepted;
    }
};

} // namespace specdec
