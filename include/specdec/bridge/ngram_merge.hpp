// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/strings/merging.hpp>
#include <specdec/bridge/strings/pushforward_bridge.hpp>

namespace specdec {

/// Token-level intersection with merged n-grams: draft tokens that together spell a target token
/// are proposed as that token, with the probability that the drafter writes them.
///
/// Paper: OmniDraft, section 3.1, Alg. 1. Its Eq. 2, which changes the target's law
/// (lossy::paper_merge_bridge is that, as printed), is replaced by the true law of scanning and
/// merging: a first token always loses the mass of every n-gram of the cache that begins with it,
/// and if it was drawn without a merge, the law of the next token is conditioned on that. Lossless
/// with every verifier.
template <class Cache, TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
using ngram_merge_bridge = pushforward_bridge<retokenised_context<TargetTokenizer, DraftTokenizer>,
                                              merging<Cache, TargetTokenizer, DraftTokenizer>>;

/// An n-gram bridge for a target context of `capacity` tokens. Borrows everything passed by
/// reference; writes what it learns into the cache.
template <class Cache, TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
[[nodiscard]] ngram_merge_bridge<Cache, TargetTokenizer, DraftTokenizer>
make_ngram_merge_bridge(Cache& cache, const TargetTokenizer& target, const DraftTokenizer& draft,
                        const id_map& map, const byte_order<draft_id>& order, std::size_t capacity,
                        pushforward_limits limits) {
    return {merging(cache, target, draft, map, order),
            retokenised_context(target, draft, map, capacity), 2 * capacity + limits.max_draft,
            limits};
}

} // namespace specdec
