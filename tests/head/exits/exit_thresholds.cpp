// SPDX-License-Identifier: MIT
#include <specdec/head/exits/exit_thresholds.hpp>

#include <limits>

#include <catch2/catch.hpp>

namespace exit_thresholds_tests {

using specdec::exit_thresholds, specdec::error;

TEST_CASE("thresholds of exits") {
    const exit_thresholds none;
    CHECK(none[0] == 0);
    const exit_thresholds two({0.7, 0.75});
    CHECK(two[0] == 0.7);
    CHECK(two[1] == 0.75);
    CHECK(two[2] == 0);
    CHECK(two.values().size() == 2);
    CHECK_NOTHROW(two.check(2));
    CHECK_THROWS_AS(two.check(1), error);
    const exit_thresholds second = exit_thresholds::fixed(1);
    CHECK(second[0] == exit_thresholds::never);
    CHECK(second[1] == 0);
    CHECK_NOTHROW(second.check(2));
    CHECK_THROWS_AS(second.check(1), error); // its only exit would never speak
    exit_thresholds other = two;
    CHECK(other == two);
    other.set(1, 0.2);
    CHECK(other[1] == 0.2);
    CHECK_FALSE(other == two);
    for (const double wrong : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
        CHECK_THROWS_AS(other.set(0, wrong), error);
        CHECK_THROWS_AS(exit_thresholds({wrong}), error);
    }
}

} // namespace exit_thresholds_tests
