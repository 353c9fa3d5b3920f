// SPDX-License-Identifier: MIT
#include <specdec/draft/costs/cost_model.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

namespace cost_model_tests {

const cost_table measured{.pass = {1, 1.2, 1.4, 1.6, 1.8}, .draft = 0.1, .catch_up = 0.01};

/// A round over n positions, all but one of which were drafted, that takes so many seconds.
void round(cost_model& costs, std::size_t n, double pass, double rest = 0) {
    costs.learn({.pass = costs.measured().pass_over(static_cast<double>(n)),
                 .positions = n,
                 .rest = {.forwards = static_cast<double>(n - 1)}},
                {pass, rest});
}

TEST_CASE("costs are those that were measured, until rounds took something else") {
    cost_model costs(measured);
    CHECK(costs.now() == measured);
    CHECK(costs.of_found() == measured);
    CHECK(costs.rounds_in(1) == 0);
    for (int i = 0; i < 50; ++i)
        round(costs, 1, 0, 0); // nobody measured
    CHECK(costs.now() == measured);
    for (int i = 0; i < 50; ++i) { // as was measured, 20 ms a pass
        round(costs, 1, 0.02);
        round(costs, 3, 0.028, 0.004);
    }
    for (std::size_t n = 1; n <= 20; ++n) {
        const auto positions = static_cast<double>(n);
        CHECK(costs.now().pass_over(positions) == Approx(measured.pass_over(positions)));
    }
    CHECK(costs.now().draft == Approx(0.1));
    CHECK(costs.rounds_in(0.2) == Approx(10));
}

TEST_CASE("of plain rounds every eighth changes what others go by") {
    cost_model costs(measured);
    for (int i = 0; i < 50; ++i) {
        round(costs, 1, 0.02);
        round(costs, 3, 0.028, 0.004);
    }
    const cost_table before = costs.now();
    for (int i = 0; i < 7; ++i)
        round(costs, 1, 0.02, 0.01);
    CHECK(costs.now() == before);
    round(costs, 1, 0.02, 0.01);
    CHECK(costs.now() != before);
    CHECK(costs.now().pass[2] < before.pass[2]); // beside what any round takes
}

TEST_CASE("a wrong unit is found once plain rounds and others were seen, and for all lengths") {
    cost_model costs(measured);
    for (int i = 0; i < 20; ++i)
        round(costs, 3, 0.028);
    CHECK(costs.now().pass[2] == Approx(1.4)); // nothing to compare with
    for (int i = 0; i < 5; ++i) {
        round(costs, 1, 0.016); // a fifth less than was measured
        round(costs, 3, 0.028);
    }
    CHECK(costs.now().pass[2] == Approx(1.4 / 0.8).epsilon(0.06));
    CHECK(costs.now().pass[4] > 1.05 * 1.8); // not seen
    for (int i = 0; i < 200; ++i) {
        round(costs, 1, 0.016);
        round(costs, 3, 0.028);
    }
    CHECK(costs.now().pass[2] == Approx(1.4 / 0.8).epsilon(0.02));
}

TEST_CASE("one unlucky entry stays its own where others were seen, and passes stay in order") {
    cost_model costs(measured);
    for (int i = 0; i < 100; ++i) {
        round(costs, 1, 0.02);
        round(costs, 2, 0.024);
        round(costs, 3, 0.036); // 1.8 passes
        round(costs, 5, 0.036);
    }
    CHECK(costs.now().pass[1] == Approx(1.2).epsilon(0.02));
    CHECK(costs.now().pass[2] == Approx(1.8).epsilon(0.03));
    CHECK(costs.now().pass[4] == Approx(1.8).epsilon(0.03));
    CHECK_NOTHROW(validate(costs.now()));
}

TEST_CASE("a machine that gets slower changes no cost, nor does a round that is interrupted") {
    cost_model costs(measured);
    const auto serve = [&](double pace, int rounds) {
        for (int i = 0; i < rounds; ++i) {
            round(costs, 1, pace * (i % 20 == 7 ? 50 : 1));
            round(costs, 4, 1.6 * pace * (i % 20 == 3 ? 50 : 1), 0.3 * pace);
        }
    };
    serve(0.02, 100);
    const double before = costs.now().pass[3];
    CHECK(before == Approx(1.6).epsilon(0.06));
    for (int i = 0; i < 40; ++i) // drafts only, and in half the pace
        round(costs, 4, 0.064, 0.012);
    CHECK(costs.now().pass[3] == Approx(before).epsilon(0.1));
    serve(0.04, 20);
    CHECK(costs.now().pass[3] == Approx(before).epsilon(0.1));
    CHECK(costs.now().draft == Approx(0.1).epsilon(0.1));
}

TEST_CASE("what every round takes beside its pass counts into passes, a found token a law more") {
    cost_model costs(measured);
    for (int i = 0; i < 200; ++i) {
        round(costs, 1, 0.02, 0.005); // a quarter of a pass
        costs.learn({.pass = 1.4, .positions = 3, .rest = {.looked_up = 2}}, {0.028, 0.007});
    }
    CHECK(costs.now().pass[0] == Approx(1));
    CHECK(costs.now().pass[2] == Approx((1.4 + 0.25) / 1.25).epsilon(0.02));
    CHECK(costs.of_found().pass[2] == Approx((1.4 + 0.35) / 1.25).epsilon(0.02));
    CHECK(costs.rounds_in(0.025) == Approx(1).epsilon(0.02));
}

TEST_CASE("passes that several texts share have factors of their own, beyond 16 positions, too") {
    cost_table wide{.pass = {}, .draft = 0.1};
    for (int n = 0; n < 64; ++n)
        wide.pass.push_back(1 + 0.1 * n);
    cost_model costs(wide);
    const auto pass = [&](std::size_t n, double times) {
        const double told = wide.pass_over(static_cast<double>(n));
        costs.learn({.pass = told, .positions = n, .rest = {.forwards = 1}},
                    {0.02 * times * told, 0.002});
    };
    for (int i = 0; i < 100; ++i) { // 16 texts: 16 positions as measured, 48 take twice as long
        pass(16, 1);
        pass(48, 2);
    }
    const cost_table& now = costs.now();
    REQUIRE(now.pass.size() == 64);
    CHECK_NOTHROW(validate(now));
    const auto ratio = [&](std::size_t n) {
        return now.pass_over(static_cast<double>(n)) / now.pass_over(16) * wide.pass_over(16) /
               wide.pass_over(static_cast<double>(n));
    };
    CHECK(ratio(64) > 1.8); // 48 counts for it
    CHECK(ratio(48) > 1.4);
    CHECK(ratio(15) < 1.2);
    CHECK(ratio(24) > ratio(20));
}

TEST_CASE("passes that others were in tell the pace, and no factor") {
    cost_model costs(measured);
    for (int i = 0; i < 100; ++i)
        costs.learn({.pass = 1.2, .positions = 0, .rest = {.forwards = 2}}, {0.036, 0.012});
    CHECK(costs.now().pass[1] == Approx(1.2).epsilon(0.02));
    CHECK(costs.now().draft > 0.15);
}

} // namespace cost_model_tests
