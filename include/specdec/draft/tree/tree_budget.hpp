// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/draft/cost_table.hpp>

namespace specdec {

/// Sequoia's shape: the tree of a given number of nodes that is expected to be kept longest, if the
/// child of rank r of a node is the one that is kept with probability by_rank[r], wherever the node
/// stands. Dynamic programming over nodes, ranks and depths, a pure function of table and limits:
///
///     F(d, r, m) = max over j of by_rank[r] * (1 + F(d - 1, 0, j - 1)) + F(d, r + 1, m - j)
///
/// the best that m nodes can add as siblings from rank r on, with paths of at most d; j of them are
/// sibling r and what is below it.
///
/// Paper: Sequoia (Chen et al. 2024), Sec. 3.1. Its table is measured. Complexity: O(depth * ranks
/// * nodes^2) once, for every smaller budget, too. Allocates at construction. Errors:
/// specdec::error for chances that are no probabilities or sum to more than 1, and for limits out
/// of range.
class tree_budget {
public:
    tree_budget(std::span<const double> by_rank, std::size_t nodes, std::size_t depth)
        : nodes_(nodes), depth_(depth) {
        if (nodes > most_draft_tokens || depth > 64)
            fail("tree budget", "limits",
                 "expected at most " + std::to_string(most_draft_tokens) +
                     " nodes and a depth of 64, found " + std::to_string(nodes) + " and " +
                     std::to_string(depth));
        parents_.reserve(nodes);
        learn(by_rank);
    }

    /// Another table. Allocates if it has more ranks than any before.
    void learn(std::span<const double> by_rank) {
        check(by_rank);
        by_rank_.assign(by_rank.begin(), by_rank.end());
        gain_.assign((depth_ + 1) * (by_rank.size() + 1) * (nodes_ + 1), 0.0);
        taken_.assign(gain_.size(), 0);
        for (std::size_t d = 1; d <= depth_; ++d)
            for (std::size_t r = by_rank.size(); r-- > 0;)
                for (std::size_t m = 1; m <= nodes_; ++m)
                    for (std::size_t j = 1; j <= m; ++j) {
                        const double gain = by_rank_[r] * (1 + gain_[at(d - 1, 0, j - 1)]) +
                                            gain_[at(d, r + 1, m - j)];
                        if (gain > gain_[at(d, r, m)] + least) {
                            gain_[at(d, r, m)] = gain;
                            taken_[at(d, r, m)] = j;
                        }
                    }
    }

    /// The best shape of at most `nodes` nodes, as parents, until the next call. Precondition: no
    /// more than there were planned.
    [[nodiscard]] std::span<const std::size_t> parents_of_best(std::size_t nodes) {
        parents_.clear();
        add(tree_root, depth_, nodes);
        return parents_;
    }
    /// Tokens that a round with that shape is expected to give, the target's own included.
    [[nodiscard]] double tokens(std::size_t nodes) const { return 1 + gain_[at(depth_, 0, nodes)]; }

    /// The number of nodes whose shape gives the most tokens for the time: a round costs a pass of
    /// the target over the nodes and one more position, and a draft of as many tokens as levels. If
    /// several texts share the pass, it costs their share.
    [[nodiscard]] std::size_t best_nodes(const cost_table& costs, double texts = 1) const {
        std::size_t best_so_far = 0;
        double rate = tokens(0) / costs.share_of_pass(1, texts);
        for (std::size_t n = 1; n <= nodes_; ++n) {
            const double levels = static_cast<double>(depth_of(depth_, n));
            const double now = tokens(n) / (costs.share_of_pass(static_cast<double>(n + 1), texts) +
                                            costs.draft_of(levels));
            if (now > rate) {
                rate = now;
                best_so_far = n;
            }
        }
        return best_so_far;
    }

private:
    static constexpr double least = 1e-12; // a gain that is no rounding

    static void check(std::span<const double> by_rank) {
        double sum = 0;
        for (const double chance : by_rank) {
            if (!(chance >= 0 && chance <= 1))
                fail("tree budget", "by_rank", "expected probabilities");
            sum += chance;
        }
        if (sum > 1 + 1e-9)
            fail("tree budget", "by_rank", "expected probabilities that sum to at most 1");
    }
    [[nodiscard]] std::size_t at(std::size_t d, std::size_t r, std::size_t m) const {
        return (d * (by_rank_.size() + 1) + r) * (nodes_ + 1) + m;
    }
    /// Calls f(nodes below it) for each of the siblings behind a node with `nodes` below.
    template <class F>
    void for_siblings(std::size_t d, std::size_t nodes, F&& f) const {
        for (std::size_t r = 0; r < by_rank_.size() && nodes > 0; ++r) {
            const std::size_t j = taken_[at(d, r, nodes)];
            if (j == 0)
                return;
            f(j - 1);
            nodes -= j;
        }
    }
    void add(std::size_t parent, std::size_t d, std::size_t nodes) {
        for_siblings(d, nodes, [&](std::size_t below) {
            parents_.push_back(parent);
            add(parents_.size() - 1, d - 1, below);
        });
    }
    [[nodiscard]] std::size_t depth_of(std::size_t d, std::size_t nodes) const {
        std::size_t deepest = 0;
        for_siblings(d, nodes, [&](std::size_t below) {
            const std::size_t own = 1 + depth_of(d - 1, below);
            deepest = own > deepest ? own : deepest;
        });
        return deepest;
    }

    std::vector<double> by_rank_;
    std::size_t nodes_, depth_;
    std::vector<double> gain_;       // [depth + 1, ranks + 1, nodes + 1] F
    std::vector<std::size_t> taken_; // the best j, 0: none
    std::vector<std::size_t> parents_;
};

} // namespace specdec
