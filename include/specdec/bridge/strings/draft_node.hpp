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

/// The node behind a draft that goes on with d, or none.
template <class State>
[[nodiscard]] std::size_t child_of(const std::vector<draft_node<State>>& nodes, std::size_t node,
                                   draft_id d) {
    std::size_t n = nodes[node].child;
    while (n != draft_node<State>::none && nodes[n].token != d)
        n = nodes[n].sibling;
    return n;
}

/// From now on child_of finds the node behind its parent.
template <class State>
void link(std::vector<draft_node<State>>& nodes, std::size_t node) {
    std::size_t& first = nodes[nodes[node].parent].child;
    nodes[node].sibling = first;
    first = node;
}

/// Appends the tokens on the way to the node.
template <class State>
void append_path(const std::vector<draft_node<State>>& nodes, std::size_t node,
                 std::vector<draft_id>& ids) {
    std::size_t i = ids.size() + nodes[node].depth;
    ids.resize(i);
    for (std::size_t left = nodes[node].depth; left > 0; --left, node = nodes[node].parent)
        ids[--i] = nodes[node].token;
}

} // namespace specdec
