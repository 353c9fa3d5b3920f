// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/token/draft_list_store.hpp>
#include <specdec/bridge/token/id_map_view.hpp>
#include <specdec/bridge/token/token_bridge.hpp>

namespace specdec {

/// The map of the union strategy: every draft id may be drawn. An id outside the target's
/// vocabulary has no image: its proposal is always rejected and ends the draft.
class union_map : public id_map_view {
public:
    using id_map_view::id_map_view;

    [[nodiscard]] bool allows(draft_id) const { return true; }
    void prepare(std::span<const float> row, std::span<float> out) const {
        for (std::size_t d = 0; d < out.size(); ++d)
            out[d] = row[d];
    }
};

/// The union strategy: both laws are read as laws over the union of the vocabularies. Paper: Timor
/// et al. 2025, Alg. 1. Lossless; accepts no more often than TLI (their Theorem 4.1), so it exists
/// for comparison. Expected acceptance at a position (token rejection): sum over the intersection
/// of min(p(t), q(t)). Kept: as token_bridge's.
template <class TargetTokenizer, class DraftTokenizer, class Kept = draft_row_store>
using union_bridge =
    token_bridge<retokenised_context<TargetTokenizer, DraftTokenizer>, union_map, Kept>;

} // namespace specdec
