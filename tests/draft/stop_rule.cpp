// SPDX-License-Identifier: MIT
#include <specdec/draft/stop_rule.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("confidence ends behind the first unlikely token and at its length") {
    const confidence stop{0.4, 3};
    CHECK(stop.more({})); // before the first token
    CHECK(stop.more({.drafted = 1, .sure = 0.4}));
    CHECK_FALSE(stop.more({.drafted = 1, .sure = 0.39}));
    CHECK(stop.more({.drafted = 1, .last = 0.1, .sure = 0.4})); // the row's word, not the cutoffs'
    CHECK_FALSE(stop.more({.drafted = 3}));
    CHECK_FALSE(confidence{0.4, 0}.more({}));
    CHECK(confidence{0.0, 3}.more({.drafted = 2, .sure = 0.0}));
    CHECK(stop.reads() == row_reading::sureness);
}

TEST_CASE("entropy_bound ends where 1 - sqrt(weight H) falls below its threshold") {
    const entropy_bound stop{.threshold = 0.5, .weight = 0.25, .length = 3};
    CHECK(stop.more({}));
    CHECK(stop.more({.drafted = 1, .entropy = 1.0}));
    CHECK_FALSE(stop.more({.drafted = 1, .entropy = 1.01}));
    CHECK_FALSE(stop.more({.drafted = 3}));
    CHECK(entropy_bound{.threshold = 1}.more({.drafted = 1, .entropy = 0}));
    CHECK_FALSE(entropy_bound{.threshold = 2}.more({.drafted = 1, .entropy = 0})); // no bound is 2
    CHECK(stop.reads() == row_reading::entropy);
}
