// SPDX-License-Identifier: MIT
#include <specdec_engine/team/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using specdec::engine::pool_share;
using specdec::engine::thread_pool;

namespace {

/// How often each item of a loop is done, written without synchronisation of its own.
std::vector<int> times_done(thread_pool& team, std::size_t n, std::size_t least) {
    std::vector<int> times(n);
    team.run(n, least, [&](pool_share s) {
        for (std::size_t i = s.begin; i < s.end; ++i)
            ++times[i];
    });
    return times;
}

} // namespace

TEST_CASE("every item is done once, whatever the numbers of items and threads") {
    for (const std::size_t members : {1U, 2U, 3U, 4U, 17U}) { // 17: more than cores
        thread_pool team(members);
        REQUIRE(team.size() == members);
        for (const std::size_t n : {0U, 1U, 2U, 3U, 5U, 64U, 1000U})
            for (const std::size_t least : {1U, 2U, 7U, 64U, 5000U}) {
                CAPTURE(members, n, least);
                CHECK(times_done(team, n, least) == std::vector<int>(n, 1));
            }
    }
}

TEST_CASE("a team without a number has one member a core") {
    CHECK(thread_pool().size() == std::max(1U, std::thread::hardware_concurrency()));
}

TEST_CASE("every member takes part") {
    thread_pool team(3);
    // Each waits for the others within its first share: only three threads can end this.
    std::atomic<std::size_t> present = 0;
    std::vector<std::thread::id> who(3);
    team.run(100, 1, [&](pool_share s) {
        if (!s.first)
            return;
        who[s.member] = std::this_thread::get_id();
        ++present;
        while (present < 3)
            std::this_thread::yield();
    });
    CHECK(who[0] == std::this_thread::get_id());
    CHECK(who[1] != who[0]);
    CHECK(who[2] != who[0]);
    CHECK(who[1] != who[2]);
}

TEST_CASE("a loop of more items than a range counts is cut into longer shares") {
    thread_pool team(3);
    CHECK(times_done(team, 200001, 1) == std::vector<int>(200001, 1));
    CHECK(times_done(team, 400000, 3) == std::vector<int>(400000, 1));
    std::atomic<int> wrong = 0;
    team.run(400000, 3, [&](pool_share s) { wrong += s.begin % 3 != 0; });
    CHECK(wrong == 0);
}

TEST_CASE("a member begins at the same item of every loop of a length") {
    thread_pool team(3);
    for (int loop = 0; loop < 100; ++loop) {
        std::atomic<std::size_t> present = 0;
        std::vector<std::size_t> begins(3, 99);
        team.run(30, 1, [&](pool_share s) {
            if (!s.first)
                return;
            begins[s.member] = s.begin;
            ++present;
            while (present < 3) // nobody takes of what another has
                std::this_thread::yield();
        });
        REQUIRE(begins == std::vector<std::size_t>{0, 10, 20});
    }
}

TEST_CASE("what a member does not come to is taken by the others") {
    thread_pool team(3);
    for (std::size_t slow = 0; slow < 3; ++slow) {
        std::atomic<std::size_t> others = 0;
        std::vector<int> times(64);
        team.run(64, 1, [&](pool_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i)
                ++times[i];
            if (s.member != slow)
                others += s.end - s.begin;
            while (s.member == slow && others < 64 - (s.end - s.begin))
                std::this_thread::yield();
        });
        CHECK(times == std::vector<int>(64, 1));
    }
}

TEST_CASE("a member's first share of each loop says so, and it alone") {
    thread_pool team(2);
    for (int loop = 0; loop < 200; ++loop) {
        std::vector<int> firsts(2), shares(2);
        team.run(50, 1, [&](pool_share s) {
            firsts[s.member] += s.first;
            ++shares[s.member];
        });
        for (std::size_t m = 0; m < 2; ++m)
            REQUIRE(firsts[m] == (shares[m] > 0 ? 1 : 0));
    }
}

TEST_CASE("a loop sees what earlier ones wrote, thousands of times") {
    thread_pool team(4);
    constexpr std::size_t n = 64;
    std::vector<std::size_t> at(n, 1), next(n);
    for (int loop = 0; loop < 5000; ++loop) {
        team.run(n, 1, [&](pool_share s) { // reads what any member wrote
            for (std::size_t i = s.begin; i < s.end; ++i)
                next[i] = at[i] + at[(i * 7 + 3) % n];
        });
        team.run(n, 2, [&](pool_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i)
                at[i] = next[i] % 1000003;
        });
    }
    std::vector<std::size_t> expected(n, 1), sum(n);
    for (int loop = 0; loop < 5000; ++loop) {
        for (std::size_t i = 0; i < n; ++i)
            sum[i] = expected[i] + expected[(i * 7 + 3) % n];
        for (std::size_t i = 0; i < n; ++i)
            expected[i] = sum[i] % 1000003;
    }
    CHECK(at == expected);
}

TEST_CASE("a team that has fallen asleep wakes up, and so does a caller") {
    using std::chrono::milliseconds;
    thread_pool team(2);
    for (int loop = 0; loop < 20; ++loop) {
        std::this_thread::sleep_for(milliseconds(2)); // much longer than patience
        std::atomic<int> present = 0;
        team.run(2, 1, [&](pool_share s) {
            ++present;
            while (present < 2)
                std::this_thread::yield();
            if (s.member == 1)
                std::this_thread::sleep_for(milliseconds(2)); // the caller sleeps meanwhile
        });
        CHECK(present == 2);
    }
}

TEST_CASE("what a member throws comes out, and the team goes on") {
    for (const std::size_t members : {1U, 2U, 4U}) {
        thread_pool team(members);
        for (int loop = 0; loop < 50; ++loop) {
            const auto all_throw = [](pool_share s) {
                throw std::runtime_error("share of " + std::to_string(s.end - s.begin));
            };
            CHECK_THROWS_AS(team.run(40, 1, all_throw), std::runtime_error);
            CHECK(times_done(team, 40, 1) == std::vector<int>(40, 1));
        }
    }
    thread_pool team(2);
    std::atomic<int> present = 0;
    const auto helper_throws = [&](pool_share s) {
        ++present;
        while (present < 2)
            std::this_thread::yield();
        if (s.member == 1)
            throw std::runtime_error("of a helper");
    };
    CHECK_THROWS_WITH(team.run(2, 1, helper_throws), "of a helper");
}

TEST_CASE("a second caller and a loop within a loop do their shares themselves") {
    thread_pool team(3);
    std::vector<std::vector<int>> times(4);
    std::vector<std::thread> callers;
    for (std::vector<int>& mine : times)
        callers.emplace_back([&team, &mine] {
            std::vector<int> sum(100);
            for (int loop = 0; loop < 300; ++loop) {
                const std::vector<int> once = times_done(team, 100, 1);
                for (std::size_t i = 0; i < 100; ++i)
                    sum[i] += once[i];
            }
            mine = sum;
        });
    for (std::thread& t : callers)
        t.join();
    for (const std::vector<int>& sum : times)
        CHECK(sum == std::vector<int>(100, 300));

    std::atomic<int> inner = 0;
    team.run(10, 1, [&](pool_share s) {
        team.run(s.end - s.begin, 1,
                 [&](pool_share t) { inner += static_cast<int>(t.end - t.begin); });
    });
    CHECK(inner == 10);
}

TEST_CASE("a team ends, however its threads fell asleep", "[computes]") {
    // Loops come about when patience ends: a helper may do one that it is just being woken for, and
    // fall asleep in the middle of that.
    using clock = std::chrono::steady_clock;
    for (std::size_t i = 0; i < 32; ++i) {
        thread_pool team(2 + i % 4);
        for (int loop = 0; loop < 60; ++loop) {
            const auto next =
                clock::now() + thread_pool::patience + std::chrono::microseconds(loop % 8);
            while (clock::now() < next)
                ;
            REQUIRE(times_done(team, 3, 1) == std::vector<int>(3, 1));
        }
    }
}

TEST_CASE("a team ends while it is idle, at once or after a sleep, used or not") {
    for (int i = 0; i < 200; ++i) {
        thread_pool team(3);
        if (i % 2 == 0)
            CHECK(times_done(team, 10, 1) == std::vector<int>(10, 1));
        if (i % 20 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}
