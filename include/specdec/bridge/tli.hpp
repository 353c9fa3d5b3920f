// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/bridge/retokenised_context.hpp>
#include <specdec/bridge/token_bridge.hpp>
#include <specdec/vocab/id_map.hpp>

namespace specdec {

/// The map of TLI: draft ids outside the intersection are never drawn, and the law is renormalised
/// over those inside: q'(t) = q(t) / sum of q over the intersection. Temperature, top-k and the
/// like apply to the restricted row.
class tli_map {
public:
    explicit tli_map(const id_map& map) : map_(&map) {}

    [[nodiscard]] std::size_t draft_size() const { return map_->draft_size(); }
    [[nodiscard]] std::size_t target_size() const { return map_->target_size(); }
    [[nodiscard]] std::size_t shared() const { return map_->shared(); }
    [[nodiscard]] target_id to_target(draft_id d) const { return map_->to_target(d); }
    [[nodiscard]] draft_id to_draft(target_id t) const { return map_->to_draft(t); }
    [[nodiscard]] draft_id next_duplicate(draft_id d) const { return map_->next_duplicate(d); }

    void prepare(std::span<const float> row, std::span<float> out) const {
        map_->restrict_to_shared(row, out);
    }

private:
    const id_map* map_;
};

/// Token-level intersection: the drafter proposes tokens that both vocabularies have, with its own
/// probabilities renormalised over them, at any temperature.
/// Paper: Timor et al. 2025, Alg. 4. Lossless with every verifier.
/// Expected acceptance at a position (token rejection): sum over the intersection of min(p(t),
/// q'(t)).
template <class TargetTokenizer, class DraftTokenizer>
using tli_bridge = token_bridge<retokenised_context<TargetTokenizer, DraftTokenizer>, tli_map>;

} // namespace specdec
