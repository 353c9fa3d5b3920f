// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <specdec/core/tree/token_tree.hpp>

namespace specdec {

/// How often the child of each rank is the one that is kept, learnt from rounds, for shapes that
/// are planned by it (tree_budget). It begins with what is usual, which counts as much as a few
/// rounds. Complexity: linear in the siblings beside a path. Allocates nothing.
class rank_table {
public:
    static constexpr std::size_t ranks = 6;

    /// A decided round: the nodes of the tree that were kept. Children of the last of them were
    /// offered and rejected.
    void learn(const token_tree<target_id>& tree, std::span<const std::size_t> path) {
        std::size_t node = tree_root;
        for (std::size_t i = 0; i <= path.size(); ++i) {
            std::size_t rank = 0;
            for (std::size_t child = tree.first_child(node); child != tree_root && rank < ranks;
                 child = tree.next_sibling(child), ++rank) {
                offered_[rank] += 1;
                kept_[rank] += i < path.size() && child == path[i] ? 1.0 : 0.0;
            }
            if (i < path.size())
                node = path[i];
        }
    }

    /// By rank; in all at most 1.
    [[nodiscard]] std::array<double, ranks> chances() const {
        std::array<double, ranks> out{};
        double left = 1;
        for (std::size_t r = 0; r < ranks; ++r) {
            const double chance = kept_[r] / offered_[r];
            out[r] = chance < left ? chance : left;
            left -= out[r];
        }
        return out;
    }

private:
    static constexpr double before = 16; // so often each was offered
    std::array<double, ranks> offered_{before, before, before, before, before, before};
    std::array<double, ranks> kept_{0.5 * before,  0.16 * before, 0.08 * before,
                                    0.04 * before, 0.03 * before, 0.02 * before};
};

} // namespace specdec
