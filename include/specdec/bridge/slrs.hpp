// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/strings/pushforward_bridge.hpp>
#include <specdec/bridge/strings/retokenising.hpp>

namespace specdec {

/// String-level rejection sampling: the drafter writes text with its whole vocabulary, the text is
/// encoded again in the target's vocabulary, and every target token is proposed with the
/// probability psi that the drafter writes it, summed over all the ways to spell it.
///
/// Paper: Timor et al. 2025, Alg. 3 (with token_rejection as its verifier), for several target
/// tokens a round: psi of the j-th is Q(t_1 .. t_j) / Q(t_1 .. t_{j-1}) (pushforward). Ours: psi is
/// not summed but bounded as far as a decision needs. Lossless with every verifier. Expected
/// acceptance at a position (token rejection): sum over t of min(p(t), psi(t)) (the paper's Table
/// 2), at least SLEM's sum of p(t) psi(t).
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
using slrs_bridge = pushforward_bridge<retokenised_context<TargetTokenizer, DraftTokenizer>,
                                       retokenising<TargetTokenizer, DraftTokenizer>>;

/// An SLRS bridge for a target context of `capacity` tokens. Borrows everything passed by
/// reference; order and edges are tables of the drafter's and the target's vocabulary.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
[[nodiscard]] slrs_bridge<TargetTokenizer, DraftTokenizer>
make_slrs_bridge(const TargetTokenizer& target, const DraftTokenizer& draft, const id_map& map,
                 const byte_order<draft_id>& order, const safe_cuts& edges, std::size_t capacity,
                 pushforward_limits limits) {
    return {retokenising(target, draft, map, order, edges),
            retokenised_context(target, draft, map, capacity), 2 * capacity + limits.max_draft,
            limits};
}

} // namespace specdec
