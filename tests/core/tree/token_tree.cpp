// SPDX-License-Identifier: MIT
#include <specdec/core/tree/token_tree.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

#include "support/holds.hpp"
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

TEST_CASE("any tree is what its parents say") {
    testing::require_holds([] {
        token_tree<target_id> tree;
        std::vector<std::size_t> parents;
        for (std::size_t n = *any_in(0, 12); parents.size() < n;) {
            const std::size_t above = *any_in(0, parents.size()); // 0: the root
            parents.push_back(above == 0 ? tree_root : above - 1);
            const auto token = target_id{static_cast<int>(*any_in(0, 3))};
            RC_ASSERT(tree.add(parents.back(), token) == parents.size() - 1);
            RC_ASSERT(tree.id(parents.size() - 1) == token);
        }
        std::size_t levels = 0;
        for (std::size_t node = 0; node < parents.size(); ++node) {
            std::vector<target_id> path;
            for (std::size_t at = node; at != tree_root; at = parents[at])
                path.insert(path.begin(), tree.id(at));
            levels = path.size() > levels ? path.size() : levels;
            std::vector<target_id> found(path.size());
            RC_ASSERT(tree.depth(node) == path.size());
            tree.path_to(node, found);
            RC_ASSERT(found == path);
            RC_ASSERT(tree.levels(node + 1) == levels);
        }
        for (std::size_t place = 0; place <= parents.size(); ++place) {
            const std::size_t parent = place == 0 ? tree_root : place - 1;
            std::vector<std::size_t> children, walked;
            for (std::size_t node = 0; node < parents.size(); ++node)
                if (parents[node] == parent)
                    children.push_back(node);
            for (std::size_t at = tree.first_child(parent); at != tree_root;
                 at = tree.next_sibling(at)) {
                RC_ASSERT(tree.rank(at) == walked.size());
                walked.push_back(at);
            }
            RC_ASSERT(walked == children);
            for (int id = 0; id < 4; ++id) { // the first child of that token
                std::size_t wanted = tree_root;
                for (const std::size_t child : children)
                    if (wanted == tree_root && tree.id(child) == target_id{id})
                        wanted = child;
                RC_ASSERT(tree.child(parent, target_id{id}) == wanted);
            }
        }
    });
}

} // namespace token_tree_tests
