// SPDX-License-Identifier: MIT
#include <specdec/draft/costs/baseline_schedule.hpp>

#include <cstddef>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("plain turns: three in a row now and then, where every round drafts") {
    baseline_schedule turns;
    std::size_t plain = 0, longest = 0, in_a_row = 0, first = 0;
    constexpr std::size_t rounds = 4000;
    for (std::size_t r = 0; r < rounds; ++r) {
        const bool now = turns.now();
        first = now && first == 0 ? r : first;
        plain += now ? 1U : 0U;
        in_a_row = now ? in_a_row + 1 : 0;
        longest = in_a_row > longest ? in_a_row : longest;
        turns.count(!now, now ? 1 : 1.5);
    }
    CHECK(first == 4);
    CHECK(longest == 3);
    CHECK(plain >= 3 * 10);
    CHECK(plain < rounds / 50);
}

TEST_CASE("plain turns: none where rounds are plain by themselves, or nobody measures") {
    baseline_schedule turns, unmeasured;
    for (int r = 0; r < 1000; ++r) {
        turns.count(false, 1);
        CHECK_FALSE(turns.now());
    }
    std::size_t plain = 0;
    for (int r = 0; r < 1000; ++r) {
        plain += unmeasured.now() ? 1U : 0U;
        unmeasured.count(!unmeasured.now(), 0);
    }
    CHECK(plain == 3); // what there is at first
}
