// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/parameters.hpp>

#include <limits>
#include <string>

#include <catch2/catch.hpp>

using namespace specdec;

namespace {

void check_refused(const sampling_parameters& parameters, const std::string& field) {
    CHECK_THROWS_WITH(validate(parameters), Catch::Contains("sampling parameters: " + field));
    CHECK_THROWS_AS(validate(parameters), error);
}

} // namespace

TEST_CASE("a parameter out of range is named") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    check_refused({.temperature = -1}, "temperature");
    check_refused({.temperature = nan}, "temperature");
    check_refused({.temperature = infinity}, "temperature");
    check_refused({.top_p = 0}, "top_p");
    check_refused({.top_p = 1.5F}, "top_p");
    check_refused({.top_p = nan}, "top_p");
    check_refused({.min_p = -0.1F}, "min_p");
    check_refused({.min_p = 1.1F}, "min_p");
    check_refused({.min_p = nan}, "min_p");
}
