// SPDX-License-Identifier: MIT
#include <specdec/core/tree/ancestor_mask.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("an ancestor mask holds each node and those above it") {
    const std::vector<std::size_t> parents{tree_root, 0, 0, 2, tree_root};
    std::vector<unsigned char> mask(25, 7);
    fill_ancestor_mask<unsigned char>(parents, mask);
    CHECK(mask == std::vector<unsigned char>{1, 0, 0, 0, 0, //
                                             1, 1, 0, 0, 0, //
                                             1, 0, 1, 0, 0, //
                                             1, 0, 1, 1, 0, //
                                             0, 0, 0, 0, 1});
}

TEST_CASE("an ancestor mask refuses parents behind their children, and another size") {
    std::vector<float> mask(4);
    const std::vector<std::size_t> wrong{1, tree_root}, right{tree_root, 0};
    CHECK_THROWS_AS(fill_ancestor_mask<float>(wrong, mask), error);
    CHECK_THROWS_AS(fill_ancestor_mask<float>(right, std::span(mask).first(3)), error);
}
