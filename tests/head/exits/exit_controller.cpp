// SPDX-License-Identifier: MIT
#include <specdec/head/exits/exit_controller.hpp>

#include <cstddef>
#include <limits>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>

using namespace specdec;

namespace exit_controller_tests {

/// Exit 1 spoke behind tokens 4 and 5, exit 0 behind token 6.
struct told_exits {
    [[nodiscard]] std::size_t exit_of(std::size_t, std::size_t i) const {
        return i < 4 ? 99 : i < 6 ? 1 : 0;
    }
};

TEST_CASE("a threshold moves until the wanted share of its exit's tokens is kept") {
    exit_thresholds tau({0.5});
    const exit_controller controller({.kept = 0.8, .step = 0.01});
    philox_coin coin(5);
    double mean = 0;
    for (std::size_t i = 0; i < 20000; ++i) { // a token at threshold t is kept with t, or more
        const double kept = tau[0] + 0.5 * (1 - tau[0]);
        controller.decided(tau, 0, coin.flip({i, purpose::accept}, kept));
        mean += i < 10000 ? 0 : tau[0] / 10000;
    }
    CHECK(mean == Approx(0.6).margin(0.03)); // where 0.8 are kept
}

TEST_CASE("a draft teaches the exits that drew its tokens, as far as it was decided on") {
    exit_thresholds tau({0.5, 0.5, 0.5});
    const exit_controller controller({.kept = 0.75, .step = 0.1});
    controller.learn(tau, told_exits{}, 0, 5, 2, true);
    CHECK(tau[1] == Approx(0.45));
    CHECK(tau[0] == Approx(0.575));
    CHECK(tau[2] == 0.5);
    controller.learn(tau, told_exits{}, 0, 5, 1, false);
    CHECK(tau[1] == Approx(0.425));
    CHECK(tau[0] == Approx(0.575));
    for (int i = 0; i < 100; ++i)
        controller.decided(tau, 0, false), controller.decided(tau, 1, true);
    CHECK(tau[0] == 1);
    CHECK(tau[1] == 0);
    exit_thresholds fixed = exit_thresholds::fixed(1);
    controller.decided(fixed, 0, true);
    controller.decided(fixed, 1, true);
    CHECK(fixed == exit_thresholds::fixed(1));
}

TEST_CASE("aims that cannot be are refused") {
    CHECK_THROWS_AS(exit_controller({.kept = 1}), error);
    CHECK_THROWS_AS(exit_controller({.kept = std::numeric_limits<double>::quiet_NaN()}), error);
    CHECK_THROWS_AS(exit_controller({.step = 0}), error);
}

} // namespace exit_controller_tests
