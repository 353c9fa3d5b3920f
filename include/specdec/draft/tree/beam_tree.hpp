// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/tree/tree_drafting.hpp>

namespace specdec {

/// A shape that goes on where the drafter is surest: of each level the `beam` nodes of greatest
/// probability (of the path to them, as the drafter sees it) have `width` children each, up to
/// `depth` levels. It looks at drawn tokens, but drops none. Exact with every sibling_draw. Models
/// TreeShape. Complexity: O(level^2) a level. Allocates nothing.
struct beam_tree {
    std::size_t beam = 4;
    std::size_t width = 4;
    std::size_t depth = 5;

    static constexpr rule_traits traits{.reads = true};
    [[nodiscard]] row_reading reads() const { return row_reading::sureness; }
    void grow(const growing_tree& growing, std::span<std::size_t> children) const {
        if (growing.tree.empty()) {
            children[0] = depth > 0 ? width : 0;
            return;
        }
        const std::size_t level = growing.tree.depth(growing.level);
        const std::span<const tree_node> nodes = growing.nodes.subspan(growing.level);
        for (std::size_t i = 0; i < children.size(); ++i)
            children[i] = level < depth && surer(nodes, i) < beam ? width : 0;
    }
    [[nodiscard]] law_version version() const { return version_of_values(beam, width, depth); }

    /// How many nodes are surer than the i-th; among equals the earlier ones.
    [[nodiscard]] static std::size_t surer(std::span<const tree_node> nodes, std::size_t i) {
        std::size_t count = 0;
        for (std::size_t j = 0; j < nodes.size(); ++j)
            count += nodes[j].reached > nodes[i].reached ||
                             (j < i && nodes[j].reached >= nodes[i].reached)
                         ? 1U
                         : 0U;
        return count;
    }
};
static_assert(TreeShape<beam_tree>);

/// EAGLE-2's dynamic tree: a beam_tree that drafts more nodes than the target scores, of which the
/// surest are kept, whatever their level. Only for the likeliest siblings: there the nodes are a
/// function of the context, so that none that was drawn is dropped.
///
/// Paper: EAGLE-2 (Li et al. 2024), Sec. 4: expansion and reranking. Models ChoosingShape.
/// Complexity: O(nodes^2). Allocates nothing.
struct eagle2_tree : beam_tree {
    [[nodiscard]] static constexpr bool chooses() { return true; }
    void choose(const growing_tree& growing, std::size_t most, std::span<std::uint8_t> kept) const {
        // A node's ancestors are at least as sure and come before it, so they are kept with it.
        for (std::size_t i = 0; i < kept.size(); ++i)
            kept[i] = surer(growing.nodes, i) < most ? 1 : 0;
    }
};
static_assert(ChoosingShape<eagle2_tree>);

} // namespace specdec
