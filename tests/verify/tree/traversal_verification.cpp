// SPDX-License-Identifier: MIT
// (Its law: tests/law/trees.cpp.)
#include <specdec/verify/tree/traversal_verification.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/verify/tree/recursive_rejection.hpp>

#include "support/stack_watch.hpp"
#include "two_level_tree.hpp"

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("traversal verification: a level of a path takes the stack of its law and little else") {
    using law = softmax_law<target_id>;
    constexpr std::size_t depth = 20;
    const std::vector<float> even(4, 0.0F);
    const law q = make_law(logits_row<target_id>{even}, {});
    const philox_coin coin(1);
    token_tree<target_id> tree;
    std::vector<proposal<law>> draft;
    for (std::uint32_t i = 0; i < depth; ++i) {
        draft.push_back(proposal<law>::draw(q, coin, {5, purpose::draft, i}));
        tree.add(i == 0 ? tree_root : i - 1, draft.back().token());
    }
    tree_workspace work;
    work.reserve(depth, depth, even.size());
    stack_watch stack;
    const auto law_at = [&](std::size_t) {
        stack.pass();
        return make_law(logits_row<target_id>{even}, {});
    };
    const verdict v = traversal_verification{}(law_at, tree, std::span<const proposal<law>>(draft),
                                               coin, 5, work);
    CHECK(v.accepted == depth);
    REQUIRE(stack.places.size() == depth + 1);
    if (stack_watch::works)
        CHECK(stack.a_level() < sizeof(law) + 768);
}

TEST_CASE("rules of trees refuse more draws than sites can be numbered") {
    const auto decide = [](const auto& rule) {
        two_level_tree nodes({1, 2, 3}, {3, 2, 1});
        philox_coin coin(1);
        return nodes.decide(rule, coin).next; // of five nodes
    };
    CHECK(decide(traversal_verification{{.draws = (1U << 29) / 6}}).valid());
    CHECK_THROWS_AS(decide(traversal_verification{{.draws = (1U << 29) / 6 + 1}}), error);
    CHECK(decide(recursive_rejection{{.draws = (1U << 29) - 1}}).valid());
    CHECK_THROWS_AS(decide(recursive_rejection{{.draws = 1U << 29}}), error);
}
