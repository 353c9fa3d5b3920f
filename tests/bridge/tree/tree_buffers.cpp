// SPDX-License-Identifier: MIT
#include <specdec/bridge/tree/tree_buffers.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace tree_buffers_tests {

TEST_CASE("tree settings out of range are refused") {
    CHECK_NOTHROW(validate(tree_settings{}));
    CHECK_THROWS_AS(validate(tree_settings{.max_nodes = 0}), error);
    CHECK_THROWS_AS(validate(tree_settings{.max_depth = 0}), error);
    CHECK_THROWS_AS(validate(tree_settings{.max_nodes = 8, .max_drafted = 4}), error);
    CHECK(tree_settings{.max_nodes = 8}.drafted() == 8);
    CHECK(tree_settings{.max_nodes = 4, .max_depth = 8}.longest_path(6) == 4);
    CHECK(tree_settings{.max_nodes = 9, .max_depth = 8}.longest_path(6) == 6);
}

using buffers = tree_buffers<one_hot_law<draft_id>, one_hot_law<target_id>>;

/// A shape that chooses the nodes of a list.
struct chooses_some {
    std::vector<std::size_t> nodes;
    void grow(const growing_tree&, std::span<std::size_t>) const {}
    [[nodiscard]] static constexpr bool chooses() { return true; }
    void choose(const growing_tree&, std::size_t, std::span<std::uint8_t> kept) const {
        for (const std::size_t node : nodes)
            kept[node] = 1;
    }
    [[nodiscard]] law_version version() const { return 0; }
};

buffers four_nodes() {
    buffers made({.max_nodes = 8, .siblings = sibling_draw::likeliest});
    made.add(tree_root, certain(target_id{1}), draft_id{11}, {});
    made.add(tree_root, certain(target_id{2}), draft_id{12}, {});
    made.add(1, certain(target_id{3}), draft_id{13}, {});
    made.add(2, certain(target_id{4}), draft_id{14}, {});
    made.reach(0, [](draft_id d) { return d.value == 12 ? 0.5 : 0.25; });
    return made;
}

TEST_CASE("what a shape knows of nodes: the product along their path") {
    const buffers made = four_nodes();
    CHECK(made.nodes[1].reached == 0.5);
    CHECK(made.nodes[3].reached == 0.5 * 0.25 * 0.25);
    CHECK(made.nodes[3].last == 1.0);
}

TEST_CASE("no node is surer than its parent, however sureness is rounded") {
    buffers made({.max_nodes = 8, .siblings = sibling_draw::likeliest});
    made.add(tree_root, certain(target_id{1}), draft_id{11}, {});
    made.add(0, certain(target_id{2}), draft_id{12}, {});
    made.reach(0, [](draft_id d) { return d.value == 11 ? 0.5 : 1.0000001; });
    CHECK(made.nodes[1].reached <= made.nodes[0].reached);
}

TEST_CASE("nodes that are chosen move together") {
    buffers made = four_nodes();
    made.choose(chooses_some{{1, 2}}, 2);
    REQUIRE(made.tree.size() == 2);
    CHECK(made.tree.id(0) == target_id{2});
    CHECK(made.tree.parent(1) == 0);
    CHECK(made.proposals[1].token() == target_id{3});
    CHECK(made.draft_ids == std::vector{draft_id{12}, draft_id{13}});
    CHECK(made.nodes[0].sure == 0.5);
}

TEST_CASE("a node is chosen with its parent, and not too many are") {
    buffers made = four_nodes();
    CHECK_THROWS_AS(made.choose(chooses_some{{0, 2}}, 4), error);
    made = four_nodes();
    CHECK_THROWS_AS(made.choose(chooses_some{{0, 1, 2}}, 2), error);
}

} // namespace tree_buffers_tests
