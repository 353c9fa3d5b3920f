// SPDX-License-Identifier: MIT
#include <specdec/head/exits/confidence_exit.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/head/exits/exit_model.hpp>

using namespace specdec;

TEST_CASE("an exit speaks whose row is sure enough, at temperature 1") {
    static_assert(ExitChoice<confidence_exit>);
    const std::vector<float> row{std::log(0.2F), std::log(0.7F), std::log(0.1F)};
    CHECK(row_confidence(row) == Approx(0.7).epsilon(1e-5));
    const std::vector<float> nothing(3, -std::numeric_limits<float>::infinity());
    CHECK(row_confidence(nothing) == 0);
    confidence_exit choice(exit_thresholds({0.69, 0.71, exit_thresholds::never, 0}));
    CHECK(choice.speaks(0, 5, 0, row));
    CHECK_FALSE(choice.speaks(0, 5, 1, row));
    CHECK(choice.speaks(0, 5, 3, nothing));
    CHECK(choice.asks(1));
    CHECK_FALSE(choice.asks(2));
    choice.thresholds().set(1, 0.5);
    CHECK(choice.speaks(0, 5, 1, row));
    choice.thresholds().set(1, 1); // is enough where it is reached: tau <= c
    CHECK(choice.speaks(0, 5, 1, std::vector{0.0F, nothing[0]}));
}

TEST_CASE("a row with NaN or +infinity has no confidence") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::nanf("");
    for (const std::vector<float>& row :
         {std::vector{0.0F, infinity, 1.0F}, std::vector{-infinity, nan, 1.0F},
          std::vector{nan, nan}, std::vector{-nan, -infinity}, std::vector{infinity}})
        CHECK_THROWS_WITH(row_confidence(row), Catch::Contains("logits row"));
}
