// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/dense_law.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "sampling/interval_measure.hpp"

using namespace specdec;

TEST_CASE("a dense law is the normalised row") {
    const std::vector<float> weights{0, 1, 0, 5, 2, 0};
    const dense_law law(probabilities_row<target_id>{weights});
    CHECK(law.size() == 6);
    CHECK(law.probability(target_id{3}) == Approx(5.0 / 8));
    CHECK(law.probability(target_id{0}) == 0);
    CHECK(law.probability(target_id{99}) == 0);
    check_intervals<target_id>(law, 1e-12);
}

TEST_CASE("a dense law of denormals") {
    const float tiny = std::numeric_limits<float>::denorm_min();
    const std::vector<float> weights{tiny, 3 * tiny, 0};
    const dense_law law(probabilities_row<target_id>{weights});
    CHECK(law.probability(target_id{1}) == 0.75);
    check_intervals<target_id>(law, 1e-12);
}

TEST_CASE("a row that is no law is refused") {
    const auto refuse = [](std::vector<float> weights) {
        CHECK_THROWS_AS(dense_law(probabilities_row<target_id>{weights}), error);
    };
    refuse({});
    refuse({0, 0});
    refuse({1, -0.5F});
    refuse({1, std::nanf("")});
    refuse({1, std::numeric_limits<float>::infinity()});
}
