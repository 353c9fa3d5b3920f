// SPDX-License-Identifier: MIT
// A shape that learns from every round, also from tokens that were discarded: the joint law of
// several rounds is the target's.
#include <specdec/draft/tree/paying_tree.hpp>

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
        joint_law law;
        std::size_t shapes = 0;
        enumerate<interval_coin>([&](interval_coin& coin) {
            auto target = tree_model_of<toy_tree_model<target_id>, target_id>(p, 2);
            auto model = tree_model_of<toy_tree_model<draft_id>, draft_id>(q, 2);
            model_drafter drafter(model);
            cost_table costs;
            costs.pass = {1, 1.2, 1.4, 1.6};
            paying_tree shape(costs, {.nodes = 3, .depth = 2, .ranks = 2, .every = 1, .probes = 1});
            tree_session text(identity_tree_bridge(identity_map(2, 2), shared_context(2, 24),
                                                   {.max_nodes = 3, .siblings = siblings}),
                              rule, session_settings{.capacity = 24});
            text.start(std::vector{target_id{0}});
            sequence found;
            law_mark before = shape.mark();
            for (std::size_t i = 0; found.size() < 3; ++i) {
                const tree_round_result r = i < 3 ? text.round(target, drafter, shape, coin, 8)
                                                  : text.round(target, drafter, no_tree(), coin, 8);
                shape.learn(r.tree, r.path);
                shapes += shape.mark() != before ? 1U : 0U;
                before = shape.mark();
                const std::size_t n = part ? 1 : r.tokens.size();
                for (std::size_t k = 0; k < n; ++k)
                    found.push_back(r.tokens[k].value);
                text.commit(n, target, drafter);
            }
            found.resize(3);
            law[found] += coin.probability();
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
