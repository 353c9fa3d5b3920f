// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <specdec/core/token_id.hpp>

namespace specdec::testing {

/// Ids of these numbers, the drafter's unless said otherwise.
template <class Id = draft_id>
std::vector<Id> ids_of(const std::vector<int>& numbers) {
    std::vector<Id> ids;
    for (const int n : numbers)
        ids.emplace_back(n);
    return ids;
}

} // namespace specdec::testing
