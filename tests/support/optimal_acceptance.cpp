// SPDX-License-Identifier: MIT
#include "support/optimal_acceptance.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("the optimum of one draft is the overlap") {
    const std::vector p{0.5, 0.3, 0.2}, q{0.2, 0.3, 0.5};
    for (const sibling_draw how : {sibling_draw::independent, sibling_draw::without_replacement})
        CHECK(optimal_acceptance(p, q, 1, how) == Approx(0.7));
}

TEST_CASE("the optimum of two drafts of two tokens") {
    const std::vector p{0.9, 0.1}, q{0.5, 0.5};
    CHECK(optimal_acceptance(p, q, 2, sibling_draw::independent) ==
          Approx(0.85)); // 1 - (1/4 - 0.1)
    CHECK(optimal_acceptance(p, q, 2, sibling_draw::without_replacement) == Approx(1.0));
}

TEST_CASE("the optimum of certain drafts is their mass") {
    const std::vector p{0.5, 0.3, 0.2}, q{0.2, 0.3, 0.5};
    CHECK(optimal_acceptance(p, q, 2, sibling_draw::likeliest) == Approx(0.5)); // tokens 2 and 1
}

TEST_CASE("the optimum refuses laws that do not fit") {
    CHECK_THROWS_AS(
        optimal_acceptance(std::vector{1.0}, std::vector{0.5, 0.5}, 1, sibling_draw::independent),
        error);
}
