// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/draft/tree/tree_budget.hpp>

namespace specdec {

struct planned_tree_settings {
    std::size_t nodes = 16;  ///< most of them
    std::size_t depth = 6;   ///< most levels
    std::size_t ranks = 4;   ///< most siblings
    std::size_t every = 16;  ///< rounds from one plan to the next
    std::size_t probes = 32; ///< where nothing pays, one token is drafted every so many rounds
};

/// Errors: specdec::error that names the setting.
inline void validate(const planned_tree_settings& settings) {
    if (settings.nodes == 0 || settings.depth == 0 || settings.ranks == 0)
        fail("paying tree", "limits", "expected at least one node, level and sibling");
    if (settings.every == 0 || settings.probes == 0)
        fail("paying tree", "every, probes", "expected at least 1 round");
}

/// A shape that decides its width and depth itself: it counts how often the sibling of each rank
/// was the one that was kept, and every few rounds plans the tree that gives the most tokens for
/// the time (tree_budget). Models TreeShape; one for each text, or for texts that take turns.
/// learn() comes between a round's decision and the next draft. Allocates at construction only.
/// Errors: as validate and tree_budget.
class planned_tree {
public:
    explicit planned_tree(const cost_table& costs, const planned_tree_settings& settings = {})
        : settings_((validate(settings), settings)), costs_((validate(costs), costs)),
          chances_(first_guess(settings.ranks)), kept_(chances_), tried_(settings.ranks, known),
          budget_(chances_, settings.nodes, settings.depth) {
        for (double& kept : kept_)
            kept *= known;
        const std::vector<std::size_t> largest(settings.nodes, tree_root);
        shape_.use(largest); // room for every later one
        plan();
    }

    /// What rounds cost, as they have shown, for the next plan, and whether drafts have a balance
    /// left, for the next draft, as of profitable_length. The first call allocates room for all
    /// positions that costs are followed for.
    void follow(const cost_table& costs, bool may_draft) {
        ++changes_;
        costs_.reserve_as(costs);
        costs_ = costs;
        may_draft_ = may_draft;
    }

    /// How many texts share a pass of the target, from the next plan on: a position costs its
    /// share.
    void share_pass(std::size_t texts) { texts_ = static_cast<double>(texts > 0 ? texts : 1); }

    void grow(const growing_tree& growing, std::span<std::size_t> children) const {
        if (may_draft_)
            return shape_.grow(growing, children);
        for (std::size_t& n : children)
            n = 0;
    }
    [[nodiscard]] law_version version() const { return changes_ + shape_.version(); }
    [[nodiscard]] const fixed_tree& shape() const { return shape_; }
    /// [ranks] the chance that the sibling of each rank is the one that is kept.
    [[nodiscard]] std::span<const double> chances() const { return chances_; }

    /// A round kept this path of the tree, which may be none. Nodes from `drafted` on are no
    /// drafter's, and no part of the shape.
    void learn(const token_tree<target_id>* tree, std::span<const std::size_t> path,
               std::size_t drafted = ~std::size_t{0}) {
        if (tree != nullptr) {
            count(*tree, tree_root, path.empty() ? tree_root : path[0], drafted);
            for (std::size_t i = 0; i < path.size() && path[i] < drafted; ++i)
                count(*tree, path[i], i + 1 < path.size() ? path[i + 1] : tree_root, drafted);
        }
        ++rounds_;
        if (probing_ || (planned_ > 0 && rounds_ % settings_.every == 0)) {
            plan();
        } else if (planned_ == 0 && rounds_ % settings_.probes == 0) {
            shape_.use(probe);
            probing_ = true;
        }
    }

private:
    static constexpr double known = 16; // tokens that the first guess counts for
    static constexpr double fading = 0.998;
    static constexpr std::size_t probe[] = {tree_root};

    static std::vector<double> first_guess(std::size_t ranks) {
        std::vector<double> chances;
        for (double chance = 0.6; chances.size() < ranks; chance /= 4)
            chances.push_back(chance);
        return chances;
    }

    void count(const token_tree<target_id>& tree, std::size_t node, std::size_t next,
               std::size_t drafted) {
        for (std::size_t child = tree.first_child(node); child < drafted && child != tree_root;
             child = tree.next_sibling(child)) {
            const std::size_t r = tree.rank(child);
            if (r >= settings_.ranks)
                return;
            kept_[r] = kept_[r] * fading + (child == next ? 1.0 : 0.0);
            tried_[r] = tried_[r] * fading + 1;
        }
    }

    void plan() {
        double left = 1; // rates of different rounds may sum to more
        for (std::size_t r = 0; r < settings_.ranks; ++r) {
            const double rate = kept_[r] / tried_[r];
            chances_[r] = rate < left ? rate : left;
            left -= chances_[r];
        }
        budget_.learn(chances_);
        planned_ = budget_.best_nodes(costs_, texts_);
        shape_.use(budget_.parents_of_best(planned_));
        probing_ = false;
    }

    planned_tree_settings settings_;
    cost_table costs_;
    std::vector<double> chances_, kept_, tried_; // [ranks]
    tree_budget budget_;
    fixed_tree shape_ = fixed_tree::chain(0);
    double texts_ = 1;
    std::size_t planned_ = 0; // nodes
    std::uint64_t rounds_ = 0;
    bool probing_ = false; // the shape is a probe
    bool may_draft_ = true;
    law_version changes_ = 0;
};
static_assert(TreeShape<planned_tree>);

} // namespace specdec
