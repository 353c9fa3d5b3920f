// SPDX-License-Identifier: MIT
#include <specdec/testing/row_difference.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace {

constexpr float forbidden = -std::numeric_limits<float>::infinity();
constexpr double infinitely = std::numeric_limits<double>::infinity();
using row = std::vector<float>;

} // namespace

TEST_CASE("equal rows") {
    const row p{1, forbidden, 3};
    const row_difference d = compare_rows(p, row{1, forbidden, 3});
    CHECK(d.identical);
    CHECK(d.greatest == 0);
    CHECK(compare_rows(row{forbidden, forbidden}, row{forbidden, forbidden}).identical);
}

TEST_CASE("distances are of log-probabilities") {
    const row_difference shifted = compare_rows(row{0, 1, 2}, row{5, 6, 7});
    CHECK_FALSE(shifted.identical);
    CHECK(shifted.greatest < 1e-12);

    const float thrice = static_cast<float>(std::log(3.0)); // 1/2, 1/2 and 3/4, 1/4
    const row_difference d = compare_rows(row{800, 800}, row{thrice, 0});
    CHECK_FALSE(d.identical);
    CHECK(d.token == 1);
    CHECK(d.greatest == Approx(std::log(2.0)));
    CHECK(d.first == Approx(std::log(0.5)));
    CHECK(d.second == Approx(std::log(0.25)));
    CHECK(compare_rows(row{forbidden, 0, 0}, row{forbidden, thrice, 0}).greatest ==
          Approx(std::log(2.0)));
}

TEST_CASE("what one row alone forbids is infinitely far, and so is what is no number") {
    const row_difference d = compare_rows(row{0, 0}, row{0, forbidden});
    CHECK(d.greatest == infinitely);
    CHECK(d.token == 1);
    CHECK(compare_rows(row{forbidden, 0}, row{0, 0}).greatest == infinitely);
    CHECK(compare_rows(row{forbidden, forbidden}, row{0, 0}).greatest == infinitely);
    CHECK(compare_rows(row{0, std::nanf("")}, row{0, 0}).greatest == infinitely);
    CHECK(compare_rows(row{0, 0}, row{std::nanf(""), 0}).greatest == infinitely);
}
