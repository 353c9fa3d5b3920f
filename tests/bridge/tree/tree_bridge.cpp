// SPDX-License-Identifier: MIT
#include <specdec/bridge/tree/tree_bridge.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

#include "support/ids.hpp"
#include "support/list_drafter.hpp"
#include "support/toy_rows.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace tree_bridge_tests {

constexpr std::size_t vocabulary = 5;

std::vector<float> row_behind(const std::vector<draft_id>& context) {
    return toy_rows(row_kind::random, vocabulary, 3)(values_of(context));
}

identity_tree_bridge bridge_of(const tree_settings& settings) {
    identity_tree_bridge bridge(identity_map(vocabulary, vocabulary),
                                shared_context(vocabulary, 32), settings);
    bridge.start({});
    bridge.follow(std::vector{target_id{1}, target_id{2}});
    return bridge;
}

tree_request request_of(std::uint64_t round) {
    return {{.round = round, .max_proposals = 8}, 64};
}

const fixed_tree& wide() {
    static const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{3, 2, 2});
    return shape;
}

/// The drafter's context at a node.
template <class View>
std::vector<draft_id> context_of(const View& draft, std::size_t node) {
    std::vector<draft_id> path;
    for (; node != tree_root; node = draft.tree->parent(node))
        path.insert(path.begin(), draft.draft_tokens[node]);
    path.insert(path.begin(), {draft_id{1}, draft_id{2}});
    return path;
}

template <class Model>
void check_laws(sibling_draw siblings) {
    Model model(vocabulary, row_behind);
    model_drafter drafter(model);
    auto bridge = bridge_of({.max_nodes = 32, .siblings = siblings});
    for (std::uint64_t round = 0; round < 10; ++round) {
        const philox_coin coin(round);
        const auto draft = bridge.propose(drafter, wide(), coin, request_of(round));
        REQUIRE(draft.tree != nullptr);
        REQUIRE(draft.tree->size() == 3 + 6 + 12);
        for (std::size_t node = 0; node < draft.tree->size(); ++node) {
            const auto row = row_behind(context_of(draft, draft.tree->parent(node)));
            const auto q = make_law(logits_row<target_id>{row}, {});
            double rest = 1;
            std::vector<target_id> before;
            for (std::size_t other = 0; other < node; ++other)
                if (draft.tree->parent(other) == draft.tree->parent(node)) {
                    before.push_back(draft.tree->id(other));
                    rest -= q.probability(before.back());
                }
            const target_id x = draft.tree->id(node);
            CHECK(draft.proposals[node].token() == x);
            const double expected = siblings == sibling_draw::likeliest ? 1.0
                                    : siblings == sibling_draw::independent
                                        ? q.probability(x)
                                        : q.probability(x) / rest;
            CHECK(draft.proposals[node].probability() == Approx(expected));
            CHECK(draft.nodes[node].last == Approx(expected));
            if (siblings != sibling_draw::independent)
                for (const target_id other : before)
                    CHECK(x != other);
        }
    }
}

TEST_CASE("each node is proposed from its parent's row, without the siblings before it") {
    for (const sibling_draw siblings :
         {sibling_draw::independent, sibling_draw::likeliest, sibling_draw::without_replacement}) {
        check_laws<toy_tree_model<draft_id>>(siblings);
        check_laws<toy_model<draft_id>>(siblings);
    }
}

TEST_CASE("a drafter that scores trees and one that does not draft the same tree") {
    toy_tree_model<draft_id> levels(vocabulary, row_behind);
    toy_model<draft_id> paths(vocabulary, row_behind);
    model_drafter by_level(levels);
    model_drafter by_path(paths);
    auto bridge = bridge_of({.max_nodes = 32}), twin = bridge_of({.max_nodes = 32});
    const philox_coin coin(4);
    const auto a = bridge.propose(by_level, beam_tree{}, coin, request_of(0));
    const auto b = twin.propose(by_path, beam_tree{}, coin, request_of(0));
    CHECK(copy_of(a.tree->ids()) == copy_of(b.tree->ids()));
    CHECK(copy_of(a.tree->parents()) == copy_of(b.tree->parents()));
    CHECK(levels.calls + levels.trees == 3); // a pass a level, until 32 nodes are drawn
    CHECK(a.passes == 3);
    CHECK(b.passes == paths.calls); // one for each node with children
    CHECK(b.passes > 3);
}

TEST_CASE("a greedy drafter's siblings without replacement are its likeliest tokens") {
    toy_tree_model<draft_id> model(vocabulary, row_behind);
    model_drafter drafter(model);
    auto greedy = bridge_of({.max_nodes = 32});
    auto likeliest = bridge_of({.max_nodes = 32, .siblings = sibling_draw::likeliest});
    tree_request request = request_of(0);
    request.path.sampling.temperature = 0;
    const philox_coin coin(4);
    const auto a = greedy.propose(drafter, wide(), coin, request);
    const auto b = likeliest.propose(drafter, wide(), coin, request_of(0));
    CHECK(copy_of(a.tree->ids()) == copy_of(b.tree->ids()));
    CHECK(a.proposals[1].probability() == 1.0);
}

TEST_CASE("an end token has no children, and nodes and depth are bounded") {
    toy_tree_model<draft_id> model(vocabulary, row_behind);
    model_drafter drafter(model);
    const philox_coin coin(4);
    auto bridge = bridge_of({.max_nodes = 7});
    tree_request request = request_of(0);
    const std::vector<target_id> ends{target_id{0}, target_id{1}, target_id{2}};
    request.path.end_ids = ends;
    auto draft = bridge.propose(drafter, wide(), coin, request);
    for (std::size_t node = 0; node < draft.tree->size(); ++node)
        if (draft.tree->id(node).value < 3)
            CHECK(draft.tree->first_child(node) == tree_root);
    draft = bridge.propose(drafter, wide(), coin, request_of(0));
    CHECK(draft.tree->size() == 7);
    request = request_of(0);
    request.path.max_proposals = 1;
    draft = bridge.propose(drafter, wide(), coin, request);
    CHECK(draft.tree->size() == 3);
    request.max_nodes = 0;
    CHECK(bridge.propose(drafter, wide(), coin, request).reason == no_draft::no_room);
    CHECK(bridge.propose(drafter, fixed_tree::chain(0), coin, request_of(0)).reason ==
          no_draft::stop_rule);
}

TEST_CASE("one shared token is enough for a tree") {
    toy_model<draft_id> model(1, [](const auto&) { return std::vector<float>(1); });
    model_drafter drafter(model);
    identity_tree_bridge bridge(identity_map(1, 1), shared_context(1, 32), {});
    bridge.start({});
    bridge.follow(std::vector{target_id{0}});
    const philox_coin coin(1);
    CHECK(bridge.propose(drafter, wide(), coin, request_of(1)).reason == no_draft::none);
}

TEST_CASE("a shape that chooses gets the surest nodes of what it drafted") {
    toy_tree_model<draft_id> model(vocabulary, row_behind);
    model_drafter drafter(model);
    auto bridge =
        bridge_of({.max_nodes = 6, .siblings = sibling_draw::likeliest, .max_drafted = 40});
    const philox_coin coin(4);
    const eagle2_tree shape{{.beam = 3, .width = 3, .depth = 4}};
    const auto draft = bridge.propose(drafter, shape, coin, request_of(0));
    REQUIRE(draft.tree->size() == 6);
    for (std::size_t node = 0; node < 6; ++node) {
        const auto row = row_behind(context_of(draft, draft.tree->parent(node)));
        const auto q = make_law(logits_row<target_id>{row}, {});
        const std::size_t parent = draft.tree->parent(node);
        const double above = parent == tree_root ? 1.0 : draft.nodes[parent].reached;
        CHECK(draft.nodes[node].reached ==
              Approx(above * q.probability(draft.tree->id(node))).epsilon(1e-5));
    }
    bridge.keep(drafter, std::vector<std::size_t>{0});
    CHECK(model.size() == 3);
}

TEST_CASE("a row that makes no law is refused, whatever siblings are drawn") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const philox_coin coin(1);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), infinity})
        for (const auto siblings : {sibling_draw::independent, sibling_draw::without_replacement,
                                    sibling_draw::likeliest})
            for (const float temperature : {0.0F, 1.0F}) {
                toy_tree_model<draft_id> model(vocabulary, [bad](const std::vector<draft_id>&) {
                    return std::vector<float>{0, 1, bad, 2, 1};
                });
                model_drafter drafter(model);
                auto bridge = bridge_of({.max_nodes = 32, .siblings = siblings});
                tree_request request = request_of(1);
                request.path.sampling.temperature = temperature;
                CHECK_THROWS_WITH(
                    bridge.propose(drafter, wide(), coin, request),
                    "logits row: drafter's values: expected no NaN, no +infinity and at least one "
                    "finite value");
            }
}

TEST_CASE("drafters that give lists draft trees of what they list") {
    list_drafter drafter(vocabulary,
                         {{{draft_id{0}, 0.5F}, {draft_id{2}, 0.3F}, {draft_id{4}, 0.2F}}});
    const auto bridge_for = [](sibling_draw siblings) {
        tree_bridge<shared_context, identity_map, draft_list_store> bridge(
            identity_map(vocabulary, vocabulary), shared_context(vocabulary, 32),
            {.max_nodes = 32, .siblings = siblings});
        bridge.follow(std::vector{target_id{1}});
        return bridge;
    };
    const philox_coin coin(6);
    auto likeliest = bridge_for(sibling_draw::likeliest);
    auto draft = likeliest.propose(drafter, beam_tree{.beam = 2, .width = 2, .depth = 2}, coin,
                                   request_of(0));
    REQUIRE(draft.tree->size() == 6);
    CHECK(draft.tree->id(0) == target_id{0});
    CHECK(draft.tree->id(1) == target_id{2});
    CHECK(draft.nodes[1].sure == Approx(0.3));
    auto drawn = bridge_for(sibling_draw::without_replacement);
    draft = drawn.propose(drafter, fixed_tree::of_widths(std::vector<std::size_t>{4}), coin,
                          request_of(0));
    REQUIRE(draft.tree->size() == 3); // no more are listed
    CHECK(draft.proposals[2].probability() == Approx(1.0));
}

} // namespace tree_bridge_tests
