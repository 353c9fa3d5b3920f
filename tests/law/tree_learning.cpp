// SPDX-License-Identifier: MIT
// A shape that learns from every round, also from tokens that were discarded: the joint law of
// several rounds is the target's.
#include <specdec/draft/tree/planned_tree.hpp>

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace tree_learning_tests {

template <class Rule>
void check_learning(const Rule& rule, sibling_draw siblings, bool part) {
    const std::vector<std::pair<row_kind, row_kind>> kinds{{row_kind::random, row_kind::random},
                                                           {row_kind::zeros, row_kind::ties}};
    for_rows(2, kinds, [&](row_tree& p, row_tree& q) {
        std::size_t shapes = 0;
        const joint_law law = on_every_path([&](interval_coin& coin) {
            cost_table costs;
            costs.pass = {1, 1.2, 1.4, 1.6};
            planned_tree shape(costs,
                               {.nodes = 3, .depth = 2, .ranks = 2, .every = 1, .probes = 1});
            sequence found;
            const auto play = [&](auto& text, auto& target, auto& drafter) {
                law_version before = shape.version();
                for (std::size_t i = 0; text.tokens().size() < 4; ++i) {
                    const round_result r = i < 3 ? text.round(target, drafter, shape, coin, 8)
                                                 : text.round(target, drafter, no_tree(), coin, 8);
                    shape.learn(r.tree, r.path);
                    shapes += shape.version() != before ? 1U : 0U;
                    before = shape.version();
                    text.commit(part ? 1 : r.tokens.size(), drafter);
                }
                found = values_of(text.tokens().subspan(1, 3));
            };
            with_trees(p, q, rule, identity_trees(2, {.max_nodes = 3, .siblings = siblings}),
                       {.capacity = 24}, play);
            return found;
        });
        CHECK(shapes > 0);
        REQUIRE(total_variation(law, target_alone(p, 3)) < exact);
    });
}

TEST_CASE("a tree that learns its width has the target's law", "[law][computes]") {
    for (const sibling_draw siblings :
         {sibling_draw::independent, sibling_draw::without_replacement})
        for (const bool part : {false, true}) {
            check_learning(recursive, siblings, part);
            check_learning(traversal, siblings, part);
        }
}

} // namespace tree_learning_tests
