// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/row_spread.hpp>

namespace specdec {

/// A draft that goes on: what becomes of it, and the drafter's row behind it.
template <class State>
struct draft_node {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    State state;
    std::vector<float> given; ///< the drafter's row
    std::vector<float> row;   ///< [|D|] as prepared
    std::vector<double> sums; ///< [|D| + 1] of q, in the order of bytes
    std::size_t law = none, parent = none, child = none, sibling = none;
    draft_id token;
    std::size_t depth = 0;
    double mass = 0;
    draft_progress progress; ///< as the stop rule sees the draft
    row_spread spread;       ///< of `row`, for stop rules that read rows
};

} // namespace specdec
