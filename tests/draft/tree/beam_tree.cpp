// SPDX-License-Identifier: MIT
#include <specdec/draft/tree/beam_tree.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace beam_tree_tests {

/// Two levels: nodes 0, 1, 2 and behind node 0 nodes 3, 4.
struct two_levels {
    token_tree<target_id> tree;
    std::vector<tree_node> nodes;
    two_levels() {
        const auto add = [&](std::size_t parent, double sure) {
            tree.add(parent, target_id{0});
            nodes.push_back(
                {sure, sure, (parent == tree_root ? 1.0 : nodes[parent].reached) * sure});
        };
        add(tree_root, 0.5);
        add(tree_root, 0.3);
        add(tree_root, 0.1);
        add(0, 0.4);
        add(0, 0.4);
    }
};

TEST_CASE("a beam goes on behind the surest nodes of a level") {
    const beam_tree shape{.beam = 1, .width = 3, .depth = 3};
    std::vector<std::size_t> children{9};
    shape.grow({token_tree<target_id>{}, {}}, children);
    CHECK(children == std::vector<std::size_t>{3});
    const two_levels two;
    children = {9, 9};
    shape.grow({two.tree, two.nodes, 3}, children);
    CHECK(children == std::vector<std::size_t>{3, 0}); // the earlier one among equals
    beam_tree{.beam = 4, .width = 3, .depth = 2}.grow({two.tree, two.nodes, 3}, children);
    CHECK(children == std::vector<std::size_t>{0, 0});
}

TEST_CASE("a confident tree keeps the surest nodes, each with its parent") {
    const two_levels two;
    const eagle2_tree shape;
    std::vector<std::uint8_t> kept(5);
    shape.choose({two.tree, two.nodes, 3}, 3, kept);
    CHECK(kept == std::vector<std::uint8_t>{1, 1, 0, 1, 0});
}

TEST_CASE("shapes of other settings have other marks") {
    CHECK(beam_tree{.beam = 2}.version() != beam_tree{.beam = 3}.version());
}

} // namespace beam_tree_tests
