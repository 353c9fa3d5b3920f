// SPDX-License-Identifier: MIT
#include <specdec/source/recycled_tree_source.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>

#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace recycled_tree_bridge_tests {

/// Behind t: t + 1 (likeliest), then t + 2, of five.
std::vector<float> row_behind(int t) {
    std::vector<float> row(5, -9.0F);
    row[static_cast<std::size_t>((t + 1) % 5)] = 2;
    row[static_cast<std::size_t>((t + 2) % 5)] = 1;
    return row;
}

struct fixture {
    successor_table table{5, 3};
    no_drafter nobody{};
    philox_coin coin{1};
    std::vector<target_id> text{target_id{0}};

    fixture() {
        for (int t = 0; t < 5; ++t)
            table.learn(target_id{t}, {row_behind(t)});
    }
    template <class Shape>
    auto propose(recycled_tree_source& bridge, const Shape& shape, std::size_t depth = 8,
                 std::size_t nodes = 16, const std::vector<target_id>& ends = {}) {
        return bridge.propose(nobody, shape, coin,
                              {{.round = 5, .max_proposals = depth, .end_ids = ends}, nodes});
    }
};

std::string ids_and_parents(const token_tree<target_id>& tree) {
    std::string out;
    for (std::size_t i = 0; i < tree.size(); ++i)
        out += std::to_string(tree.id(i).value) +
               (tree.parent(i) == tree_root ? std::string("^ ")
                                            : "<" + std::to_string(tree.parent(i)) + " ");
    return out;
}

TEST_CASE("recycled tree: successors of each node's token, as the shape wants") {
    fixture f;
    recycled_tree_source bridge(f.table, {.max_nodes = 16, .max_depth = 4});
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 2});
    bridge.start({});
    CHECK(f.propose(bridge, shape).reason == no_draft::nothing_found);
    bridge.follow(f.text);
    const auto draft = f.propose(bridge, shape);
    CHECK(ids_and_parents(*draft.tree) == "1^ 2^ 2<0 3<0 3<1 4<1 ");
    CHECK(draft.nodes[2].reached == Approx(draft.nodes[0].sure * draft.nodes[2].sure));
    CHECK(draft.nodes[0].sure > draft.nodes[1].sure);
    CHECK(draft.proposals[3].probability() == 1);
    CHECK(ids_and_parents(*f.propose(bridge, shape, 1).tree) == "1^ 2^ ");
    CHECK(ids_and_parents(*f.propose(bridge, shape, 8, 3).tree) == "1^ 2^ 2<0 ");
    CHECK(ids_and_parents(*f.propose(bridge, shape, 8, 16, {target_id{1}}).tree) ==
          "1^ 2^ 3<1 4<1 ");
    CHECK(f.propose(bridge, shape, 0).reason == no_draft::no_room);
    CHECK(f.propose(bridge, fixed_tree::chain(0)).reason == no_draft::stop_rule);
}

TEST_CASE("recycled tree: a shape may choose among what is certain") {
    fixture f;
    recycled_tree_source bridge(f.table, {.max_nodes = 3, .max_depth = 4, .max_drafted = 12});
    bridge.start({});
    bridge.follow(f.text);
    const eagle2_tree best{{.beam = 2, .width = 2, .depth = 4}};
    CHECK(ids_and_parents(*f.propose(bridge, best).tree) == "1^ 2<0 3<1 "); // 0.73, 0.53, 0.39
}

TEST_CASE("recycled tree: a session gives it the rows of every node") {
    successor_table table(5, 3);
    toy_tree_model<target_id> target(
        5, [](const std::vector<target_id>& context) { return row_behind(context.back().value); });
    no_drafter nobody;
    philox_coin coin(3);
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 1});
    const session_settings settings{.target = {.temperature = 0}, .capacity = 64};
    session session(recycled_tree_source(table, {.max_nodes = 8, .max_depth = 4}),
                    tree_exact_match{}, settings);
    session.start(std::vector{target_id{0}});
    for (int i = 0; i < 8; ++i)
        session.commit(session.round(target, nobody, shape, coin, 8).tokens.size(), nobody);
    CHECK(session.tokens().size() > 12); // of 9 without a draft
    CHECK(table.of(target_id{3})[0].id == target_id{4});
    CHECK(table.of(target_id{3})[1].id == target_id{0});
}

TEST_CASE("recycled trees refuse more nodes than a tree has before they ask for their memory") {
    successor_table table(6, 2);
    CHECK_THROWS_WITH(recycled_tree_source(table, {.max_nodes = std::size_t{1} << 40}),
                      Catch::Contains("max_nodes"));
}

} // namespace recycled_tree_bridge_tests
