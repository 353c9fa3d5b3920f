// SPDX-License-Identifier: MIT
#include <specdec/speculation/tree/rank_table.hpp>

#include <cstddef>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace rank_table_tests {

token_tree<target_id> tree_of(const std::vector<std::size_t>& parents) {
    token_tree<target_id> tree;
    for (const std::size_t parent : parents)
        tree.add(parent, target_id{0});
    return tree;
}

TEST_CASE("chances by rank are those of the rounds, and in all at most 1") {
    const auto sum = [](const rank_table& table) {
        const auto all = table.chances();
        return std::accumulate(all.begin(), all.end(), 0.0);
    };
    rank_table table;
    CHECK(table.chances()[0] > table.chances()[1]);
    CHECK(sum(table) <= 1);
    // The second child of the root is always kept, and never the only child of that.
    const auto tree = tree_of({tree_root, tree_root, 1});
    const std::vector<std::size_t> path{1};
    for (int i = 0; i < 2000; ++i)
        table.learn(tree, path);
    CHECK(table.chances()[0] < 0.01);
    CHECK(table.chances()[1] > 0.97);
    CHECK(sum(table) <= 1 + 1e-12);
    CHECK(table.chances()[3] < rank_table().chances()[3]); // nothing is left for it
}

TEST_CASE("a path that ends in a leaf says nothing of children, a rejected level does") {
    rank_table leaf, rejected;
    const std::vector<std::size_t> path{0};
    for (int i = 0; i < 100; ++i) {
        leaf.learn(tree_of({tree_root}), path);
        rejected.learn(tree_of({tree_root, 0}), path);
    }
    CHECK(leaf.chances()[0] > 0.9);
    CHECK(rejected.chances()[0] == Approx(0.5).margin(0.01));
}

} // namespace rank_table_tests
