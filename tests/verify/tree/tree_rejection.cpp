// SPDX-License-Identifier: MIT
// The rules of trees that reject: each kept proposal by itself, or all of a path.
#include <specdec/verify/tree/recursive_rejection.hpp>
#include <specdec/verify/tree/traversal_verification.hpp>

#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/verify/tree/tree_exact_match.hpp>

#include "two_level_tree.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace tree_rejection_tests {

using law = two_level_tree::law;
using law_function = law (*)(std::size_t);
static_assert(TreeVerifier<recursive_rejection, law, law_function, const philox_coin>);
static_assert(TreeVerifier<traversal_verification, law, law_function, const philox_coin>);

TEMPLATE_TEST_CASE("a tree rule keeps a path to a leaf where both laws are the same", "",
                   recursive_rejection, traversal_verification) {
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        two_level_tree two({0.5F, 0.25F, 0.25F}, {0.5F, 0.25F, 0.25F}, seed);
        const philox_coin coin(seed);
        const verdict v = two.decide(TestType{}, coin);
        CHECK(v.accepted == 2);
        CHECK(v.evaluated == 2);
        CHECK(v.origin == token_origin::free);
        CHECK(std::vector(two.work.path()) == std::vector<std::size_t>{0, 2});
    }
}

TEMPLATE_TEST_CASE("a tree rule keeps nothing where the laws are disjoint", "", recursive_rejection,
                   traversal_verification) {
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        two_level_tree two({0, 0, 1}, {0.5F, 0.5F, 0}, seed);
        const philox_coin coin(seed);
        const verdict v = two.decide(TestType{}, coin);
        CHECK(v.accepted == 0);
        CHECK(v.evaluated == 1);
        CHECK(v.next == target_id{2});
        CHECK(v.origin == token_origin::corrected);
        CHECK(two.work.path().empty());
    }
}

TEMPLATE_TEST_CASE("a tree rule asks for a law at most once, of a parent first", "",
                   recursive_rejection, traversal_verification) {
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        two_level_tree two({0.1F, 0.2F, 0.7F}, {0.6F, 0.2F, 0.2F}, seed);
        const philox_coin coin(seed);
        const verdict v = two.decide(TestType{}, coin);
        CHECK(v.next.valid());
        CHECK(v.accepted == two.work.path().size());
        std::set<std::size_t> seen;
        for (const std::size_t node : two.asked) {
            CHECK(seen.insert(node).second);
            if (node != tree_root)
                CHECK(seen.count(two.tree.parent(node)) == 1);
        }
    }
}

TEMPLATE_TEST_CASE("a tree rule draws from the target where there is no tree", "",
                   recursive_rejection, traversal_verification) {
    two_level_tree two({0, 1}, {1, 0});
    two.tree.clear();
    two.proposals.clear();
    const philox_coin coin(1);
    const verdict v = two.decide(TestType{}, coin);
    CHECK(v.next == target_id{1});
    CHECK(v.origin == token_origin::free);
}

TEMPLATE_TEST_CASE("a tree rule ends a path with its first end token, and asks for nothing there",
                   "", recursive_rejection, traversal_verification, tree_exact_match) {
    token_tree<target_id> tree;
    tree.reserve(3);
    const std::vector draft{certain(target_id{0}), certain(target_id{1}), certain(target_id{2})};
    for (std::size_t i = 0; i < 3; ++i) // a chain, whose second node is an end
        tree.add(i == 0 ? tree_root : i - 1, draft[i].token());
    tree_workspace work;
    work.reserve(3, 3, 3);
    const laws_along laws{[](std::size_t node) {
                              if (node == 1)
                                  throw "a law was asked for behind the end";
                              return one_hot_law<target_id>(node == tree_root ? target_id{0}
                                                                              : target_id{1});
                          },
                          [](std::size_t node) { return node == 1; }};
    const philox_coin coin(1);
    const verdict v = TestType{}(laws, tree, std::span(draft), coin, 0, work);
    CHECK(v.ended);
    CHECK(v.accepted == 2);
    CHECK_FALSE(v.next.valid());
    CHECK(std::vector(work.path()) == std::vector<std::size_t>{0, 1});
}

} // namespace tree_rejection_tests
