// SPDX-License-Identifier: MIT
#include <specdec/draft/tree/tree_budget.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/tree/fixed_tree.hpp>

#include "support/ids.hpp"

using namespace specdec;

namespace tree_budget_tests {

/// Tokens that a shape is expected to give: each node is kept with the product of its ranks'
/// chances.
double tokens_of(const std::vector<std::size_t>& parents, const std::vector<double>& by_rank,
                 std::size_t depth) {
    token_tree<target_id> tree;
    std::vector<double> kept;
    double sum = 1;
    for (const std::size_t parent : parents) {
        const std::size_t node = tree.add(parent, target_id{0});
        const bool counts = tree.rank(node) < by_rank.size() && tree.depth(node) <= depth;
        kept.push_back(
            !counts ? 0.0 : by_rank[tree.rank(node)] * (parent == tree_root ? 1.0 : kept[parent]));
        sum += kept.back();
    }
    return sum;
}

/// The best of all trees of n nodes.
double best_of_all(std::size_t n, const std::vector<double>& by_rank, std::size_t depth) {
    double best = 1;
    std::vector<std::size_t> parents;
    const auto visit = [&](const auto& self) -> void {
        const double found = tokens_of(parents, by_rank, depth);
        best = found > best ? found : best;
        if (parents.size() == n)
            return;
        for (std::size_t parent = 0; parent <= parents.size(); ++parent) {
            parents.push_back(parent == parents.size() ? tree_root : parent);
            self(self);
            parents.pop_back();
        }
    };
    visit(visit);
    return best;
}

TEST_CASE("a budget's shape is the best of all trees") {
    for (const auto& by_rank :
         std::vector<std::vector<double>>{{0.6, 0.2, 0.1}, {0.9}, {0.3, 0.3, 0.3}, {0.1, 0.7}, {}})
        for (const std::size_t depth : {1U, 2U, 5U}) {
            tree_budget budget(by_rank, 5, depth);
            for (std::size_t n = 0; n <= 5; ++n) {
                CAPTURE(by_rank, depth, n);
                const auto shape = fixed_tree::of_parents(budget.parents_of_best(n));
                CHECK(shape.size() <= n);
                CHECK(shape.depth() <= depth);
                const auto parents = testing::copy_of(shape.parents());
                CHECK(tokens_of(parents, by_rank, depth) == Approx(budget.tokens(n)));
                CHECK(budget.tokens(n) == Approx(best_of_all(n, by_rank, depth)));
            }
        }
}

TEST_CASE("a budget that knows what nodes cost decides how many there are") {
    tree_budget budget(std::vector{0.6, 0.2, 0.1}, 16, 6);
    cost_table free;
    CHECK(budget.best_nodes(free) == 16); // more positions cost nothing
    cost_table dear;
    dear.pass.clear();
    for (int n = 1; n <= 17; ++n)
        dear.pass.push_back(n);
    CHECK(budget.best_nodes(dear) == 0);
    cost_table between;
    between.pass = {1, 1.05, 1.1, 1.15, 1.2, 5, 6, 7};
    CHECK(budget.best_nodes(between) == 4);
}

TEST_CASE("a budget refuses chances that are none") {
    CHECK_THROWS_AS(tree_budget(std::vector{0.7, 0.4}, 4, 4), error);
    CHECK_THROWS_AS(tree_budget(std::vector{-0.1}, 4, 4), error);
    CHECK_THROWS_AS(tree_budget(std::vector{0.5}, 4000, 4), error);
}

} // namespace tree_budget_tests
