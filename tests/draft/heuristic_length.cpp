// SPDX-License-Identifier: MIT
#include <specdec/draft/heuristic_length.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("heuristic_length: two more when all was kept, one less otherwise, at least one") {
    heuristic_length stop(2, 5);
    const auto told = [&](std::size_t drafted, std::size_t kept) {
        const std::vector<draft_progress> steps(drafted);
        stop.learn({.steps = steps, .kept = kept});
        return stop.length();
    };
    CHECK(stop.more({.drafted = 1}));
    CHECK_FALSE(stop.more({.drafted = 2}));
    CHECK(told(2, 2) == 4);
    CHECK(told(4, 4) == 5); // the most
    CHECK(told(5, 4) == 4);
    CHECK(told(0, 0) == 4); // a round without a draft says nothing
    for (int i = 0; i < 9; ++i)
        CHECK(told(2, 0) > 0);
    CHECK(stop.length() == 1);
}
