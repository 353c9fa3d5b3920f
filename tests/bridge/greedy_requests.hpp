// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "support/toy_pair.hpp"

/// What the requests of the bridges' tests have in common.
namespace specdec::testing {

inline constexpr sampling_parameters greedy{.temperature = 0};
inline const std::vector<target_id> ends{toy_pair::end};

} // namespace specdec::testing
