// SPDX-License-Identifier: MIT
#include <specdec/learn/regression_guard.hpp>

#include <cmath>
#include <cstdint>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>

using namespace specdec;

namespace regression_guard_tests {

/// Rounds of a drafter whose tokens are kept with chance `a`, at most 4 of them.
struct drafting {
    philox_coin coin;
    std::uint64_t round = 0;

    explicit drafting(std::uint64_t seed) : coin(seed) {}
    draft_outcome operator()(double a) {
        std::size_t emitted = 1;
        ++round;
        while (emitted <= 4 &&
               coin.flip({round, purpose::draft, static_cast<std::uint32_t>(emitted)}, a))
            ++emitted;
        return {.emitted = emitted};
    }
};

/// The verdict on weights that keep with chance `a`.
watch_verdict judged(regression_guard& watch, drafting& rounds, double a) {
    watch.updated();
    for (;;)
        if (const watch_verdict v = watch.see(rounds(a)); v != watch_verdict::wait)
            return v;
}

void see_good(regression_guard& watch, drafting& rounds, double a, int n) {
    for (int i = 0; i < n; ++i)
        CHECK(watch.see(rounds(a)) == watch_verdict::wait);
}

TEST_CASE("an equal drafter is rolled back no more often than the bound says") {
    const double z = 2, bound = 3 * 0.5 * std::erfc(z / std::sqrt(2.0)); // three looks
    int first = 0, later = 0;
    constexpr int seeds = 1000, windows = 4;
    for (int seed = 0; seed < seeds; ++seed) {
        regression_guard watch({.window = 64, .deviations = z});
        drafting rounds(static_cast<std::uint64_t>(seed));
        for (int i = 0; i < 64; ++i)
            (void)watch.see(rounds(0.6));
        first += judged(watch, rounds, 0.6) == watch_verdict::roll_back ? 1 : 0;
        for (int w = 0; w < windows; ++w)
            later += judged(watch, rounds, 0.6) == watch_verdict::roll_back ? 1 : 0;
    }
    const auto most = [&](int n) { return n * bound + 3 * std::sqrt(n * bound); };
    CHECK(first <= most(seeds));
    CHECK(later <= most(2 * windows * seeds)); // a lucky window before errs again
    CHECK(first > 0);                          // the bound is about what happens
}

TEST_CASE(
    "a much worse drafter is always rolled back at the end of its window, a better one never") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        regression_guard watch({.window = 100});
        drafting rounds(seed);
        see_good(watch, rounds, 0.6, 100);
        CHECK(judged(watch, rounds, 0.2) == watch_verdict::roll_back);
        see_good(watch, rounds, 0.6, 20); // the good weights again
        CHECK(judged(watch, rounds, 0.7) == watch_verdict::keep);
        CHECK(judged(watch, rounds, 0.25) == watch_verdict::roll_back);
    }
}

TEST_CASE("many small declines are noticed") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        regression_guard watch({.window = 128});
        drafting rounds(seed);
        see_good(watch, rounds, 0.7, 256);
        double a = 0.7;
        while (judged(watch, rounds, a) == watch_verdict::keep)
            a -= 0.02;
        CHECK(a > 0.3);
    }
}

TEST_CASE("weights are judged once, over all updates of a window") {
    regression_guard watch({.window = 8});
    const draft_outcome good{.emitted = 4}, bad{.emitted = 1};
    for (int i = 0; i < 8; ++i)
        CHECK(watch.see(good) == watch_verdict::wait);
    watch.updated();
    for (int i = 0; i < 7; ++i) {
        CHECK(watch.see(bad) == watch_verdict::wait);
        watch.updated();
    }
    CHECK(watch.see(bad) == watch_verdict::roll_back);
    for (int i = 0; i < 20; ++i)
        CHECK(watch.see(good) == watch_verdict::wait); // nothing on trial
}

TEST_CASE("weights that are much worse go back behind a quarter of the window, or a half") {
    int rolled = 0, half = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        regression_guard watch({.window = 256});
        drafting rounds(seed);
        see_good(watch, rounds, 0.6, 64);
        const std::uint64_t before = rounds.round;
        CHECK(judged(watch, rounds, 0.02) == watch_verdict::roll_back);
        CHECK(rounds.round - before == 64);
        see_good(watch, rounds, 0.6, 200);
        const std::uint64_t again = rounds.round;
        rolled += judged(watch, rounds, 0.42) == watch_verdict::roll_back ? 1 : 0;
        half += rounds.round - again == 128 ? 1 : 0;
        const std::uint64_t last = rounds.round;
        CHECK(judged(watch, rounds, 0.75) == watch_verdict::keep); // never before its end
        CHECK(rounds.round - last == 256);
    }
    CHECK(rolled > 180);
    CHECK(half > 10);
}

TEST_CASE("nothing to compare with: keep") {
    regression_guard watch({.window = 8});
    watch.updated();
    for (int i = 0; i < 7; ++i)
        CHECK(watch.see({.emitted = 1}) == watch_verdict::wait);
    CHECK(watch.see({.emitted = 1}) == watch_verdict::keep);
}

TEST_CASE("settings that mean nothing are refused") {
    CHECK_THROWS_WITH(regression_guard({.window = 7}), Catch::StartsWith("regression guard: "));
    CHECK_THROWS_AS(regression_guard({.deviations = 0}), error);
}

} // namespace regression_guard_tests
