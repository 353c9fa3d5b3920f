// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/require.hpp>
#include <specdec/core/tree/tree_drafting.hpp>

namespace specdec {

/// A shape that stays the same, until it is given another: how many children a node has depends on
/// its place in the tree alone. Models TreeShape. Complexity: O(depth * width) a node. Allocates at
/// construction only.
class fixed_tree {
public:
    /// Node i of the shape is a child of parents[i], an earlier node or tree_root. Errors:
    /// specdec::error for parents that are none.
    [[nodiscard]] static fixed_tree of_parents(std::span<const std::size_t> parents) {
        fixed_tree shape;
        shape.use(parents);
        return shape;
    }
    /// Each node of depth d has widths[d] children (the root has depth 0). Sensible: {3, 2, 1, 1}.
    /// Errors: specdec::error for more than 65536 nodes.
    [[nodiscard]] static fixed_tree of_widths(std::span<const std::size_t> widths) {
        std::vector<std::size_t> parents;
        std::size_t level = 0; // first node of the last level
        for (std::size_t d = 0; d < widths.size(); ++d) {
            const std::size_t begin = parents.size(), nodes = d == 0 ? 1 : begin - level;
            if (nodes > 0 && widths[d] > 65536 / nodes)
                fail("fixed tree", "widths", "expected at most 65536 nodes");
            for (std::size_t i = 0; i < nodes; ++i)
                parents.insert(parents.end(), widths[d], d == 0 ? tree_root : level + i);
            level = begin;
        }
        return of_parents(parents);
    }
    [[nodiscard]] static fixed_tree chain(std::size_t length) {
        const std::vector<std::size_t> widths(length, 1);
        return of_widths(widths);
    }

    /// Another shape from the next draft on, given by parents. Allocates where it has more nodes
    /// than any before.
    void use(std::span<const std::size_t> parents) {
        require_parents(parents.size(), parents, 0, "fixed tree");
        ++changes_;
        plan_.clear();
        plan_.reserve(parents.size());
        for (const std::size_t parent : parents)
            plan_.add(parent, {});
    }

    [[nodiscard]] std::size_t size() const { return plan_.size(); }
    [[nodiscard]] std::span<const std::size_t> parents() const { return plan_.parents(); }
    [[nodiscard]] std::size_t depth() const {
        std::size_t deepest = 0;
        for (std::size_t node = 0; node < size(); ++node)
            deepest = plan_.depth(node) > deepest ? plan_.depth(node) : deepest;
        return deepest;
    }

    void grow(const growing_tree& growing, std::span<std::size_t> children) const {
        for (std::size_t i = 0; i < children.size(); ++i) {
            const std::size_t node = growing.tree.empty() ? tree_root : growing.level + i;
            children[i] = 0;
            std::size_t child = plan_.first_child(place_of(growing.tree, node));
            for (; child != tree_root; child = plan_.next_sibling(child))
                ++children[i];
        }
    }
    [[nodiscard]] law_version version() const { return changes_; }

private:
    fixed_tree() = default;

    /// The node of the plan that has the same place.
    [[nodiscard]] std::size_t place_of(const token_tree<target_id>& tree, std::size_t node) const {
        if (node == tree_root)
            return tree_root;
        std::size_t place = plan_.first_child(place_of(tree, tree.parent(node)));
        for (std::size_t rank = tree.rank(node); rank > 0; --rank)
            place = plan_.next_sibling(place);
        return place;
    }

    token_tree<draft_id> plan_; // without tokens
    law_version changes_ = 0;
};
static_assert(TreeShape<fixed_tree>);

} // namespace specdec
