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

/// The numbers of ids.
template <class Ids>
std::vector<int> values_of(const Ids& ids) {
    std::vector<int> numbers;
    for (const auto id : ids)
        numbers.push_back(id.value);
    return numbers;
}

} // namespace specdec::testing
