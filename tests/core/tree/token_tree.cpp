// SPDX-License-Identifier: MIT
#include <specdec/core/tree/token_tree.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

#include "support/ids.hpp"

using namespace specdec;

namespace token_tree_tests {

TEST_CASE("a token tree knows parents, children, siblings, ranks and depths") {
    token_tree<target_id> tree;
    tree.reserve(8);
    CHECK(tree.empty());
    CHECK(tree.first_child(tree_root) == tree_root);
    CHECK(tree.add(tree_root, target_id{10}) == 0);
    CHECK(tree.add(tree_root, target_id{11}) == 1);
    CHECK(tree.add(1, target_id{12}) == 2);
    CHECK(tree.add(0, target_id{13}) == 3);
    CHECK(tree.add(1, target_id{14}) == 4);
    CHECK(tree.add(4, target_id{15}) == 5);
    CHECK(tree.size() == 6);
    const auto parents = testing::copy_of(tree.parents());
    CHECK(parents == std::vector<std::size_t>{tree_root, tree_root, 1, 0, 1, 4});
    const std::size_t children[] = {3, 2, tree_root, tree_root, 5, tree_root};
    const std::size_t siblings[] = {1, tree_root, 4, tree_root, tree_root, tree_root};
    CHECK(tree.first_child(tree_root) == 0);
    CHECK(tree.first_children()[0] == 0);
    for (std::size_t node = 0; node < 6; ++node) {
        CHECK(tree.first_child(node) == children[node]);
        CHECK(tree.next_sibling(node) == siblings[node]);
        CHECK(tree.first_children()[node + 1] == children[node]);
        CHECK(tree.next_siblings()[node] == siblings[node]);
    }
    CHECK(tree.first_children().size() == 7);
    CHECK(tree.next_siblings().size() == 6);
    CHECK(tree.rank(1) == 1);
    CHECK(tree.rank(3) == 0);
    CHECK(tree.rank(4) == 1);
    CHECK(tree.depth(tree_root) == 0);
    CHECK(tree.depth(5) == 3);
    std::vector<target_id> path(3);
    tree.path_to(5, path);
    CHECK(path == std::vector{target_id{11}, target_id{14}, target_id{15}});
    tree.clear();
    CHECK(tree.empty());
    CHECK(tree.add(tree_root, target_id{1}) == 0);
    CHECK(tree.first_child(0) == tree_root);
}

} // namespace token_tree_tests
