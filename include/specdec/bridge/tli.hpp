// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/token/draft_list_store.hpp>
#include <specdec/bridge/token/id_map_view.hpp>
#include <specdec/bridge/token/token_bridge.hpp>

namespace specdec {

/// The map of TLI: draft ids outside the intersection are never drawn, and the law is renormalised
/// over those inside: q'(t) = q(t) / sum of q over the intersection. Temperature, top-k and the
/// like apply to the restricted row. Lists come with these parameters applied, so a list is
/// restricted after them.
class tli_map : public id_map_view {
public:
    using id_map_view::id_map_view;

    [[nodiscard]] bool allows(draft_id d) const { return to_target(d).valid(); }
    void prepare(std::span<const float> row, std::span<float> out) const {
        map().restrict_to_shared(row, out);
    }
};

/// Token-level intersection: the drafter proposes tokens that both vocabularies have, with its own
/// probabilities renormalised over them, at any temperature. Paper: Timor et al. 2025, Alg. 4.
/// Lossless with every verifier. Expected acceptance at a position (token rejection): sum over the
/// intersection of min(p(t), q'(t)). Kept: as token_bridge's.
template <class TargetTokenizer, class DraftTokenizer, class Kept = draft_row_store>
using tli_bridge =
    token_bridge<retokenised_context<TargetTokenizer, DraftTokenizer>, tli_map, Kept>;

} // namespace specdec
