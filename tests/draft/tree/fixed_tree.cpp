// SPDX-License-Identifier: MIT
#include <specdec/draft/tree/fixed_tree.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"

using namespace specdec;

namespace fixed_tree_tests {

/// The shape that comes of asking, level by level.
template <class Shape>
token_tree<target_id> grown(const Shape& shape) {
    token_tree<target_id> tree;
    std::size_t level = 0;
    std::vector<std::size_t> children{0};
    for (bool first = true;; first = false) {
        children.assign(first ? 1 : tree.size() - level, 0);
        shape.grow({tree, {}, level}, children);
        const std::size_t begin = tree.size();
        for (std::size_t i = 0; i < children.size(); ++i)
            for (std::size_t k = 0; k < children[i]; ++k)
                tree.add(first ? tree_root : level + i, target_id{0});
        if (tree.size() == begin)
            return tree;
        level = begin;
    }
}

TEST_CASE("a fixed tree of widths") {
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 1, 2});
    CHECK(shape.size() == 8);
    CHECK(shape.depth() == 3);
    const token_tree<target_id> tree = grown(shape);
    CHECK(tree.size() == 8);
    CHECK(testing::copy_of(tree.parents()) ==
          std::vector<std::size_t>{tree_root, tree_root, 0, 1, 2, 2, 3, 3});
}

TEST_CASE("a fixed tree of parents, wherever they stand") {
    const std::vector<std::size_t> parents{tree_root, 0, 1, tree_root, 0, 3};
    const token_tree<target_id> tree = grown(fixed_tree::of_parents(parents));
    CHECK(testing::copy_of(tree.parents()) ==
          std::vector<std::size_t>{tree_root, tree_root, 0, 0, 1, 2});
}

TEST_CASE("a chain is a tree of width one, and an empty one drafts nothing") {
    CHECK(grown(fixed_tree::chain(3)).depth(2) == 3);
    CHECK(grown(fixed_tree::chain(0)).empty());
}

TEST_CASE("a fixed tree refuses parents that come later, and too many nodes") {
    CHECK_THROWS_AS(fixed_tree::of_parents(std::vector<std::size_t>{1, 0}), error);
    CHECK_THROWS_AS(fixed_tree::of_widths(std::vector<std::size_t>{1000, 1000}), error);
}

} // namespace fixed_tree_tests
