// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <specdec/core/law_mark.hpp>
#include <specdec/core/tree/tree_drafting.hpp>

namespace specdec {

/// How often nodes of draft trees were kept, by how sure the drafter was of them (in bins): a
/// calibration that is learnt while decoding, from every child of every node that was kept. A bin
/// leans on a guess from which it starts; old rounds fade. As acceptance_table has it of chains.
/// Complexity: O(1) a node. Allocates nothing.
class node_chances {
public:
    /// That a node as sure as this is kept, if its parent is.
    [[nodiscard]] double accept(double sure) const {
        const std::size_t b = bin(sure);
        return of_[b].rate(guess(b));
    }
    /// That one of a node's children is kept, if it is: of a node as sure as this, or of the root.
    [[nodiscard]] double next(double sure) const { return behind_[bin(sure)].rate(0.6); }
    [[nodiscard]] double first() const { return first_.rate(0.6); }

    [[nodiscard]] law_mark mark() const { return learnt_; }

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
    static constexpr std::array edges{0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97};
    static constexpr std::size_t bins = edges.size() + 1;

    struct counter {
        double kept = 0, decided = 0;
        /// The share that was kept, counted as if eight more had been kept at the rate `before`.
        [[nodiscard]] double rate(double before) const {
            return (kept + 8 * before) / (decided + 8);
        }
        void count(bool was_kept) {
            kept = kept * 0.995 + (was_kept ? 1 : 0);
            decided = decided * 0.995 + 1;
        }
    };
    static std::size_t bin(double sure) {
        std::size_t b = 0;
        while (b < edges.size() && sure >= edges[b])
            ++b;
        return b;
    }
    static double guess(std::size_t b) {
        const double low = b == 0 ? 0.0 : edges[b - 1], high = b == edges.size() ? 1.0 : edges[b];
        return 0.02 + 0.9 * (low + high) / 2;
    }

    std::array<counter, bins> of_{};     // [sureness of the node] it was kept
    std::array<counter, bins> behind_{}; // [sureness of a kept node] a child was kept
    counter first_;                      // a child of the root was
    law_mark learnt_ = 0;
};

} // namespace specdec
