// SPDX-License-Identifier: MIT
#include <specdec/verify/tree/tree_exact_match.hpp>

#include <catch2/catch.hpp>

#include "two_level_tree.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace tree_exact_match_tests {

using law = two_level_tree::law;
using law_function = law (*)(std::size_t);
static_assert(TreeVerifier<tree_exact_match, law, law_function, const philox_coin>);

TEST_CASE("exact match goes on with the child that is the target's own token") {
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        two_level_tree two({0.3F, 0.3F, 0.4F}, {0.4F, 0.3F, 0.3F}, seed);
        const philox_coin coin(seed + 1000);
        const verdict v = two.decide(tree_exact_match{}, coin);
        std::size_t node = tree_root;
        for (std::size_t depth = 0;; ++depth) {
            const target_id own = coin.pick({depth, purpose::target}, two.p);
            std::size_t child = two.tree.first_child(node);
            while (child != tree_root && two.tree.id(child) != own)
                child = two.tree.next_sibling(child);
            if (child == tree_root) {
                CHECK(v.accepted == depth);
                CHECK(v.next == own);
                CHECK(v.evaluated == depth + (two.tree.first_child(node) == tree_root ? 0 : 1));
                break;
            }
            CHECK(two.work.path()[depth] == child);
            node = child;
        }
    }
}

} // namespace tree_exact_match_tests
