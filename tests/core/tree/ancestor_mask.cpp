// SPDX-License-Identifier: MIT
#include <specdec/core/tree/ancestor_mask.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/holds.hpp"

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

TEST_CASE("the mask of any tree is that of walks to the root") {
    testing::require_holds([] {
        std::vector<std::size_t> parents;
        for (std::size_t n = *any_in(1, 10); parents.size() < n;) {
            const std::size_t above = *any_in(0, parents.size());
            parents.push_back(above == 0 ? tree_root : above - 1);
        }
        const std::size_t n = parents.size();
        std::vector<unsigned char> mask(n * n, 7), wanted(n * n, 0);
        for (std::size_t node = 0; node < n; ++node)
            for (std::size_t at = node; at != tree_root; at = parents[at])
                wanted[node * n + at] = 1;
        fill_ancestor_mask<unsigned char>(parents, mask);
        RC_ASSERT(mask == wanted);
    });
}

TEST_CASE("an ancestor mask refuses parents behind their children, and another size") {
    std::vector<float> mask(4);
    const std::vector<std::size_t> wrong{1, tree_root}, right{tree_root, 0};
    CHECK_THROWS_AS(fill_ancestor_mask<float>(wrong, mask), error);
    CHECK_THROWS_AS(fill_ancestor_mask<float>(right, std::span(mask).first(3)), error);
}
