// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <specdec/core/tree/token_tree.hpp>
#include <specdec/core/tree/tree_drafting.hpp>

namespace specdec::testing {

/// What a bridge does: level by level as the shape says; add(parent, children) adds so many to tree
/// and nodes, or fewer. Returns the first node of the last level.
template <class Shape, class Add>
std::size_t grow_levels(const Shape& shape, const token_tree<target_id>& tree,
                        const std::vector<tree_node>& nodes, const Add& add,
                        const beside_tree& beside = {}) {
    for (std::size_t level = 0;;) {
        const std::size_t begin = tree.size();
        std::vector<std::size_t> children(begin == 0 ? 1 : begin - level);
        shape.grow({tree, nodes, level, beside}, children);
        for (std::size_t i = 0; i < children.size(); ++i)
            add(begin == 0 ? tree_root : level + i, children[i]);
        if (tree.size() == begin)
            return level;
        level = begin;
    }
}

} // namespace specdec::testing
