// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <specdec/core/law_version.hpp>
#include <specdec/core/tree/tree_drafting.hpp>
#include <specdec/draft/acceptance_table.hpp>

namespace specdec {

/// How often nodes of draft trees were kept, by how sure the drafter was of them, learnt from every
/// child of every node that was kept: what acceptance_table has of chains. Complexity: O(1) a node.
/// Allocates nothing.
class node_chances : acceptance_bins {
public:
    /// That a node as sure as this is kept, if its parent is.
    [[nodiscard]] double accept(double sure) const {
        const std::size_t b = bin(sure);
        return of_[b].rate(guess(b));
    }
    /// That one of a node's children is kept, if it is: of a node as sure as this, or of the root.
    [[nodiscard]] double next(double sure) const { return behind_[bin(sure)].rate(0.6); }
    [[nodiscard]] double first() const { return first_.rate(0.6); }

    [[nodiscard]] law_version version() const { return learnt_; }

    /// A round kept this path of the tree, which may be none; nodes: what is known of the
    /// drafter's, which come first.
    void learn(const token_tree<target_id>& tree, std::span<const std::size_t> path,
               std::span<const tree_node> nodes) {
        ++learnt_;
        for (std::size_t i = 0; i <= path.size(); ++i) {
            const std::size_t node = i == 0 ? tree_root : path[i - 1];
            if (i > 0 && node >= nodes.size())
                return; // no drafter's
            const std::size_t child = tree.first_child(node);
            if (child >= nodes.size())
                return; // it has none of the drafter's
            const bool kept = i < path.size() && path[i] < nodes.size();
            (i == 0 ? first_ : behind_[bin(nodes[node].sure)]).count(kept);
            for (std::size_t c = child; c < nodes.size(); c = tree.next_sibling(c))
                of_[bin(nodes[c].sure)].count(kept && c == path[i]);
        }
    }

private:
    static double guess(std::size_t b) { return 0.02 + 0.9 * middle(b); }

    std::array<counter, bins> of_{};     // [sureness of the node] it was kept
    std::array<counter, bins> behind_{}; // [sureness of a kept node] a child was kept
    counter first_;                      // a child of the root was
    law_version learnt_ = 0;
};

} // namespace specdec
