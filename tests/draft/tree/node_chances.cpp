// SPDX-License-Identifier: MIT
#include <specdec/draft/tree/node_chances.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace node_chances_tests {

/// The root's children 0 (sure 0.7) and 1 (0.2), and one of 0, of sureness 0.7.
struct small_tree {
    token_tree<target_id> tree;
    std::vector<tree_node> nodes{{0.7, 0.7, 0.7}, {0.2, 0.2, 0.2}, {0.7, 0.7, 0.49}};
    small_tree() {
        tree.add(tree_root, target_id{0});
        tree.add(tree_root, target_id{1});
        tree.add(0, target_id{2});
    }
};

TEST_CASE("node chances: guesses rise with sureness, and what is seen takes their place") {
    node_chances chances;
    CHECK(chances.accept(0.1) < chances.accept(0.5));
    CHECK(chances.accept(0.5) < chances.accept(0.99));
    const small_tree t;
    const double before = chances.accept(0.7);
    const law_version mark = chances.version();
    for (int i = 0; i < 300; ++i) // the less sure one is always kept
        chances.learn(t.tree, std::vector<std::size_t>{1}, t.nodes);
    CHECK(chances.version() != mark);
    CHECK(chances.accept(0.7) < 0.1);
    CHECK(before > 0.5);
    CHECK(chances.accept(0.2) > 0.9);
    CHECK(chances.first() > 0.9);
    CHECK(chances.next(0.2) == 0.6); // node 1 has no children
}

TEST_CASE("node chances: of the children of kept nodes only") {
    node_chances chances;
    const small_tree t;
    for (int i = 0; i < 300; ++i)
        chances.learn(t.tree, {}, t.nodes);
    CHECK(chances.first() < 0.1);
    CHECK(chances.next(0.7) == 0.6); // nobody came to node 0
    for (int i = 0; i < 600; ++i)
        chances.learn(t.tree, std::vector<std::size_t>{0, 2}, t.nodes);
    CHECK(chances.next(0.7) > 0.9);
    CHECK(chances.accept(0.7) > 0.9);
}

TEST_CASE("node chances: nodes that are no drafter's teach that its own were not kept") {
    node_chances chances;
    small_tree t;
    const std::size_t found = t.tree.add(tree_root, target_id{3});
    for (int i = 0; i < 300; ++i)
        chances.learn(t.tree, std::vector<std::size_t>{found}, t.nodes);
    CHECK(chances.first() < 0.1);
    CHECK(chances.accept(0.7) < 0.1);
}

} // namespace node_chances_tests
