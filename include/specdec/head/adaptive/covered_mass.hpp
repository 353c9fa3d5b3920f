// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <span>

#include <specdec/core/law.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// The target's mass on tokens that a list can propose: sum of p(t) over the t that tokens of the
/// list become, each once. It bounds the acceptance of whatever drafts with the list, and a mean
/// over a text says whether the list goes with it. List: token_list or adaptive_token_list. Map:
/// to_target, to_draft, next_duplicate, as an id_map or a token bridge's. Complexity: O(list).
/// Allocates nothing.
template <LawOf<target_id> Law, class List, class Map>
    requires requires(const List& list, draft_id id) {
        { list.ids() } -> std::convertible_to<std::span<const draft_id>>;
        { list.contains(id) } -> std::convertible_to<bool>;
    }
[[nodiscard]] double covered_mass(const Law& p, const List& list, const Map& map) {
    double sum = 0;
    for (const draft_id d : list.ids()) {
        const target_id t = map.to_target(d);
        if (!t.valid())
            continue;
        draft_id first = map.to_draft(t); // of the list: duplicates count once
        while (first != d && !list.contains(first))
            first = map.next_duplicate(first);
        if (first == d)
            sum += p.probability(t);
    }
    return sum;
}

} // namespace specdec
