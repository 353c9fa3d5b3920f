// SPDX-License-Identifier: MIT
#include <specdec/speculation/tree/tree_drafts.hpp>

#include <cstddef>

#include <catch2/catch.hpp>

using namespace specdec;

namespace tree_drafts_tests {

bool chooses(const any_tree_shape& shape) {
    return shape.chooses();
}

TEST_CASE("tree drafts: widths are the shape, a number of nodes chooses one by the siblings") {
    const any_tree_shape wide({.widths = {3, 2, 1}}, 1);
    CHECK(wide.settings().max_nodes == 15);
    CHECK(wide.settings().max_depth == 3);
    CHECK(wide.settings().siblings == sibling_draw::without_replacement);
    CHECK_FALSE(chooses(wide));
    validate(wide.settings());

    for (std::size_t nodes = 1; nodes < 40; ++nodes)
        for (const float temperature : {0.0F, 1.0F}) {
            const any_tree_shape shape({.nodes = nodes}, temperature);
            validate(shape.settings());
            CHECK(shape.settings().max_nodes <= nodes);
            CHECK(shape.settings().max_nodes > (nodes < 4 ? nodes - 1 : 3));
            CHECK(chooses(shape) == (temperature == 0));
        }
    for (const std::size_t nodes : {116U, 117U, 256U}) { // more than a beam draws
        const any_tree_shape shape({.nodes = nodes}, 0);
        validate(shape.settings());
        CHECK(shape.settings().max_nodes >= 116);
    }
    for (const std::size_t depth : {1U, 3U, 7U}) // the paper's trees of VocabTrim
        for (const float temperature : {0.0F, 1.0F}) {
            const any_tree_shape shape(
                {.nodes = 32, .depth = depth, .beam = 8, .growth = tree_growth::dynamic},
                temperature);
            CHECK(shape.settings().max_depth == depth);
            CHECK(shape.settings().max_nodes == (depth == 1 && temperature == 0 ? 8 : 32));
            if (temperature == 0)
                CHECK(shape.settings().drafted() == 8 + (depth - 1) * 64);
        }
    for (std::size_t g = 0; g < tree_growth_names.size(); ++g) {
        const any_tree_shape shape({.nodes = 20, .depth = 2, .growth = static_cast<tree_growth>(g)},
                                   0);
        CHECK(shape.settings().max_depth == 2);
    }
    CHECK(chooses(any_tree_shape({.siblings = sibling_draw::likeliest}, 1)));
    CHECK_FALSE(chooses(any_tree_shape({.siblings = sibling_draw::independent}, 0)));
}

TEST_CASE("tree drafts: how they grow, and what needs costs") {
    for (std::size_t g = 0; g < tree_growth_names.size(); ++g)
        for (const float temperature : {0.0F, 1.0F}) {
            const tree_drafts s{.nodes = 7, .growth = static_cast<tree_growth>(g)};
            const any_tree_shape shape(s, temperature);
            CAPTURE(tree_growth_names[g], temperature);
            validate(shape.settings());
            CHECK(shape.settings().max_nodes == 7);
            CHECK(chooses(shape) == (temperature == 0 && g < 2));
            CHECK(s.needs_costs() == (s.growth == tree_growth::paying));
        }
    CHECK_FALSE(tree_drafts{.costs = cost_table{}}.needs_costs());
    CHECK_FALSE(tree_drafts{.widths = {2}}.needs_costs());
}

TEST_CASE("tree drafts: settings out of range are errors that name them") {
    const auto message = [](const tree_drafts& s) {
        try {
            validate(s);
        } catch (const error& problem) {
            return std::string(problem.what());
        }
        return std::string();
    };
    CHECK(message({.nodes = 0}) == "tree: nodes: expected a number from 1 to 256");
    CHECK(message({.nodes = 257}) == "tree: nodes: expected a number from 1 to 256");
    CHECK(message({.widths = {2, 0}}) == "tree: widths: expected numbers from 1 to 256");
    CHECK(message({.widths = {32, 32, 32}}) == "tree: widths: expected at most 1024 nodes in all");
    CHECK(message({.depth = 0}) == "tree: depth: expected a number from 1 to 64");
    CHECK(message({.depth = 65}) == "tree: depth: expected a number from 1 to 64");
    CHECK(message({.beam = 0}) == "tree: beam: expected a number from 1 to 16");
    CHECK(message({.beam = 17}) == "tree: beam: expected a number from 1 to 16");
    CHECK(message({.depth = 64}).empty());
    CHECK(message({.depth = 17, .beam = 8}) == "tree: depth: expected at most 1024 nodes in all");
    CHECK(message({.nodes = 0, .widths = {2}}).empty());
    CHECK(message({}).empty());
}

TEST_CASE("tree drafts: shapes that pay go by what rounds have cost") {
    const auto level = [](const any_tree_shape& shape) {
        const token_tree<target_id> tree;
        std::size_t children = 0;
        shape.grow({tree, {}, 0}, {&children, 1});
        return children;
    };
    for (const float temperature : {0.0F, 1.0F})
        for (const tree_growth growth : {tree_growth::paying, tree_growth::dynamic}) {
            const tree_drafts drafts{
                .nodes = 6, .growth = growth, .costs = cost_table{{1, 1.05}, 0.02}};
            any_tree_shape shape(drafts, temperature);
            CHECK(shape.drafts() == drafts);
            CHECK(level(shape) > 0);
            shape.follow(*drafts.costs, false);
            CHECK((level(shape) > 0) == (growth == tree_growth::dynamic));
            shape.follow(*drafts.costs, true);
            CHECK(level(shape) > 0);
        }
}

} // namespace tree_drafts_tests
