// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/draft/lookup/lookup_length.hpp>
#include <specdec/draft/stop_rule.hpp>

namespace specdec {

/// Why a source of known tokens has no draft, before it looks for any: there is no room, or the
/// stop rule wants none. `none`: it may look.
template <StopRule Stop>
[[nodiscard]] no_draft refuses_draft(const Stop& stop, const draft_request& request) {
    if (request.max_proposals == 0)
        return no_draft::no_room;
    return stop.more(draft_progress{}) ? no_draft::none : no_draft::stop_rule;
}

/// Proposes known tokens, each for certain: as many as `length` chooses or, without one, as the
/// stop rule asks for, to the first end token and as far as there is room. steps[i]: how sure
/// ids[i] is. The view is of `proposals`, which it replaces. Allocates where that has no room.
template <StopRule Stop>
[[nodiscard]] draft_view<one_hot_law<target_id>>
propose_known(std::span<const target_id> ids, std::span<const draft_progress> steps,
              const std::optional<lookup_length>& length, const Stop& stop,
              const draft_request& request,
              std::vector<proposal<one_hot_law<target_id>>>& proposals) {
    proposals.clear();
    const std::size_t most = length ? length->choose(steps) : steps.size();
    for (std::size_t i = 0; i < most && i < request.max_proposals; ++i) {
        if (i > 0 && !stop.more(steps[i - 1]))
            break;
        proposals.push_back(certain(ids[i]));
        if (is_end(request.end_ids, ids[i]))
            break;
    }
    if (proposals.empty())
        return draft_view<one_hot_law<target_id>>::nothing(no_draft::stop_rule);
    return {proposals, {}, {}};
}

} // namespace specdec
