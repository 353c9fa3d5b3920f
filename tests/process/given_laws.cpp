// SPDX-License-Identifier: MIT
#include <specdec/process/given_laws.hpp>

#include <limits>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace {

using entries = std::vector<weighted_id<target_id>>;

auto law_of(const std::vector<float>& row, const given_laws& laws = {},
            const sampling_parameters& sampling = {}) {
    return laws(probabilities_row<target_id>{row}, 0, {}, sampling);
}
auto law_of(const entries& row, const given_laws& laws = {}) {
    return laws(listed_row<target_id>{row, 9}, 0, {}, {});
}

} // namespace

TEST_CASE("rows that are laws are taken as they are") {
    CHECK(law_of({0.25F, 0.5F, 0.25F}).probability(target_id{1}) == 0.5);
    const entries two{{target_id{2}, 0.75F}, {target_id{8}, 0.25F}};
    CHECK(law_of(two).probability(target_id{8}) == 0.25);
    CHECK(law_of(two).probability(target_id{3}) == 0);
    CHECK(law_of(two).size() == 9);
}

TEST_CASE("rows that are no laws are refused") {
    const char* const sum = "given laws: row: expected probabilities whose sum is 1";
    CHECK_THROWS_WITH(law_of({0.25F, 0.5F}), sum);
    CHECK_THROWS_WITH(law_of({1, 0.5F}), sum);
    CHECK_THROWS_WITH(law_of(entries{{target_id{2}, 0.5F}}), sum);
    CHECK_THROWS_AS(law_of({1.5F, -0.5F}), error);
    CHECK_THROWS_AS(law_of({1, std::numeric_limits<float>::quiet_NaN()}), error);
    CHECK_THROWS_AS(law_of(entries{{target_id{2}, 0.5F}, {target_id{1}, 0.5F}}), error);
    CHECK_THROWS_AS(law_of(entries{{target_id{2}, 0.5F}, {target_id{2}, 0.5F}}), error);
    CHECK_THROWS_AS(law_of(entries{{target_id{9}, 1}}), error);
    CHECK_THROWS_AS(law_of(entries{}), error);
    CHECK_THROWS_WITH(law_of({1}, {}, {.temperature = 0}),
                      "given laws: sampling parameters: expected the defaults, as the rows are "
                      "distributions already");
}

TEST_CASE("any sum is taken where the caller says so") {
    const given_laws any{.tolerance = std::numeric_limits<double>::infinity()};
    CHECK(law_of({1, 3}, any).probability(target_id{1}) == 0.75);
    CHECK_THROWS_AS(law_of({0, 0}, any), error);
}
