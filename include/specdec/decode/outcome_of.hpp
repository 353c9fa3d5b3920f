// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <specdec/core/concepts.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/draft/draft_outcome.hpp>

namespace specdec {

/// The outcome of a round for stop rules that learn: how many *draft* tokens were kept. A draft
/// token is kept if the accepted proposals contain its bytes, whatever the bridge made of it; a
/// control token if all proposals were accepted. extra_forwards: forwards of the drafter that the
/// bridge's decisions took. Complexity: linear in the round's tokens. Allocates nothing.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
[[nodiscard]] draft_outcome outcome_of(const round_result& round, const TargetTokenizer& target,
                                       const DraftTokenizer& draft,
                                       std::size_t extra_forwards = 0) {
    draft_outcome o{.steps = round.steps,
                    .forwards = round.drafted.size() + extra_forwards,
                    .proposed = round.proposed.size(),
                    .emitted = round.tokens.size()};
    std::size_t accepted = 0; // bytes
    for (std::size_t i = 0; i < round.accepted; ++i)
        accepted += target.bytes(round.tokens[i]).size();
    const bool all = round.accepted == round.proposed.size();
    std::size_t end = 0; // of the draft token, in bytes
    for (const draft_id d : round.drafted) {
        const std::string_view bytes = d.valid() ? draft.bytes(d) : std::string_view{};
        end += bytes.size();
        if (end > accepted || (bytes.empty() && !all))
            break;
        ++o.kept;
    }
    o.rejected = !all && o.kept < round.drafted.size();
    return o;
}

} // namespace specdec
