// SPDX-License-Identifier: MIT
#include <specdec_engine/team/shared_loop.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using specdec::engine::pool_share;
using specdec::engine::shared_loop;

namespace shared_loop_tests {

using shares = std::vector<std::pair<std::size_t, std::size_t>>;

void note(const void* to, pool_share s) {
    auto& found = *static_cast<shares*>(const_cast<void*>(to));
    REQUIRE(s.first == found.empty());
    found.emplace_back(s.begin, s.end);
}

} // namespace shared_loop_tests

TEST_CASE("a member takes its range in halves from the front, then the others' from the back") {
    using namespace shared_loop_tests;
    shared_loop loop(2);
    for (int round = 0; round < 3; ++round) {
        shares taken;
        REQUIRE(loop.open(16, 1, &taken, &note) == 16);
        const shared_loop::took took = loop.take_shares(1);
        CHECK(took.units == 16);
        CHECK(took.seen == loop.seen());
        CHECK(taken ==
              shares{{8, 12}, {12, 14}, {14, 15}, {15, 16}, {4, 8}, {2, 4}, {1, 2}, {0, 1}});
        taken.clear();
        CHECK(loop.take_shares(0).units == 0);
        CHECK(taken.empty());
    }
}

TEST_CASE(
    "shares are units of the least share, the last one shorter, and no range counts too far") {
    using namespace shared_loop_tests;
    shared_loop loop(3);
    shares taken;
    REQUIRE(loop.open(10, 4, &taken, &note) == 3);
    loop.take_shares(0);
    CHECK(taken == shares{{0, 4}, {4, 8}, {8, 10}});
    taken.clear();
    const std::size_t n = 1000001;
    const std::size_t units = loop.open(n, 1, &taken, &note);
    CHECK(units <= 0xFFFF);
    CHECK(loop.take_shares(2).units == units);
    std::vector<int> times(n);
    for (const auto& [begin, end] : taken)
        for (std::size_t i = begin; i < end; ++i)
            ++times[i];
    CHECK(times == std::vector<int>(n, 1));
}

TEST_CASE("members that no loop had a unit for take part in the next one") {
    using namespace shared_loop_tests;
    shared_loop loop(8);
    for (int round = 0; round < 5; ++round) {
        shares taken;
        loop.open(2, 1, &taken, &note);
        loop.take_shares(7);
        CHECK(taken == shares{{0, 1}, {1, 2}});
    }
    shares taken;
    loop.open(16, 1, &taken, &note);
    CHECK(loop.take_shares(7).units == 16);
    CHECK(taken.front() == std::pair<std::size_t, std::size_t>{14, 15});
}

TEST_CASE("a loop that is over says so to everybody") {
    shared_loop loop(2);
    CHECK_FALSE(shared_loop::is_over(loop.seen()));
    loop.end();
    CHECK(shared_loop::is_over(loop.take_shares(0).seen));
    CHECK(shared_loop::is_over(loop.take_shares(1).seen));
}
