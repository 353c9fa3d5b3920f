// SPDX-License-Identifier: MIT
#include <specdec/verify/tree/recursive_rejection.hpp>

#include <set>

#include <catch2/catch.hpp>

#include "two_level_tree.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace recursive_rejection_tests {

using law = two_level_tree::law;
using law_function = law (*)(std::size_t);
static_assert(TreeVerifier<recursive_rejection, law, law_function, const philox_coin>);

TEST_CASE("recursive_rejection keeps a path to a leaf where both laws are the same") {
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        two_level_tree two({0.5F, 0.25F, 0.25F}, {0.5F, 0.25F, 0.25F}, seed);
        const philox_coin coin(seed);
        const verdict v = two.decide(recursive_rejection{}, coin);
        CHECK(v.accepted == 2);
        CHECK(v.evaluated == 2);
        CHECK(v.origin == token_origin::free);
        CHECK(std::vector(two.work.path()) == std::vector<std::size_t>{0, 2});
    }
}

TEST_CASE("recursive_rejection keeps nothing where the laws are disjoint") {
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        two_level_tree two({0, 0, 1}, {0.5F, 0.5F, 0}, seed);
        const philox_coin coin(seed);
        const verdict v = two.decide(recursive_rejection{}, coin);
        CHECK(v.accepted == 0);
        CHECK(v.evaluated == 1);
        CHECK(v.next == target_id{2});
        CHECK(v.origin == token_origin::corrected);
        CHECK(two.work.path().empty());
    }
}

TEST_CASE("recursive_rejection asks for a law at most once, of a parent first") {
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        two_level_tree two({0.1F, 0.2F, 0.7F}, {0.6F, 0.2F, 0.2F}, seed);
        const philox_coin coin(seed);
        const verdict v = two.decide(recursive_rejection{}, coin);
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

TEST_CASE("recursive_rejection draws from the target where there is no tree") {
    two_level_tree two({0, 1}, {1, 0});
    two.tree.clear();
    two.proposals.clear();
    const philox_coin coin(1);
    const verdict v = two.decide(recursive_rejection{}, coin);
    CHECK(v.next == target_id{1});
    CHECK(v.origin == token_origin::free);
}

} // namespace recursive_rejection_tests
