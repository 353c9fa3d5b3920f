// SPDX-License-Identifier: MIT
#include <specdec/draft/counted/cache_mixture.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace cache_mixture_tests {

const count_shares usual;
constexpr float nothing = -std::numeric_limits<float>::infinity();

std::vector<double> law_of(std::span<const float> row) {
    double sum = 0;
    for (const float x : row)
        sum += std::exp(static_cast<double>(x));
    std::vector<double> law;
    for (const float x : row)
        law.push_back(std::exp(static_cast<double>(x)) / sum);
    return law;
}

TEST_CASE("a mixed row is the interpolated law, and knows its sum") {
    std::vector<float> row{1.0F, -2.0F, 3.0F, nothing};
    const std::vector<double> q = law_of(row);
    const successor_counts::successor seen[] = {
        {draft_id{3}, 3}, {draft_id{0}, 1}, {draft_id{7}, 5}, {draft_id{1}, 0}};
    constexpr double lambda = 0.3;
    double log_sum = std::log(std::exp(1.0) + std::exp(-2.0) + std::exp(3.0));
    const counted_saying said = mix_counts(row, log_sum, {3, 4, seen}, 9, lambda);
    CHECK((said.cell == 9 && said.lambda == lambda));
    CHECK((said.id[0] == draft_id{3} && said.c[0] == 0.75 && said.q[0] == 0));
    CHECK(said.q[1] == Approx(q[0]));
    CHECK((said.c[2] == 0 && said.c[3] == 0));     // no token of the row, and none at all
    const std::vector<double> mixed = law_of(row); // of the token that is none, nothing
    CHECK(mixed[0] == Approx((1 - lambda) * q[0] + lambda / 4));
    CHECK(mixed[1] == Approx((1 - lambda) * q[1]));
    CHECK(mixed[2] == Approx((1 - lambda) * q[2]));
    CHECK(mixed[3] == Approx(lambda * 3 / 4)); // was left out
    double sum = 0;
    for (const float x : row)
        sum += std::exp(static_cast<double>(x));
    CHECK(log_sum == Approx(std::log(sum)));
}

TEST_CASE("rows are copied where one of them is mixed, and else as they were given") {
    const std::vector<float> given{0, 1, 9, 2, 3, 9, 4, 5, 9}; // padded
    const logits_rows<draft_id> rows(given.data(), 3, 2, 3);
    std::vector<float> room;
    mixed_rows as_given(rows, room);
    for (int i = 0; i < 3; ++i)
        CHECK(as_given.mix({}, {}, usual)[0].lambda == 0);
    CHECK(logits_rows<draft_id>(as_given)[0].values.data() == given.data());
    CHECK(room.empty());

    const successor_counts::successor one[] = {{draft_id{0}, 1}};
    mixed_rows mixed(rows, room);
    (void)mixed.mix({}, {}, usual);
    const auto said = mixed.mix({2, 1, one}, {3, 1, one}, usual);
    (void)mixed.mix({}, {}, usual);
    const logits_rows<draft_id> found = mixed;
    CHECK(found[0].values[1] == 1);
    CHECK(found[1].values[0] > 2);
    CHECK(found[1].values[1] == 3);
    CHECK(found[2].values[0] == 4);
    // First with those of all, then with the text's own.
    constexpr double all = 0.2, own = 0.4;
    const double q = law_of(std::vector{2.0F, 3.0F})[0];
    CHECK(law_of(found[1].values)[0] == Approx((1 - own) * ((1 - all) * q + all) + own));
    CHECK((said[0].lambda == all && said[1].lambda == own));
    CHECK(said[1].q[0] == Approx((1 - all) * q + all));
}

TEST_CASE("a row that forbids all stays so, and one that makes no law is refused") {
    const successor_counts::successor one[] = {{draft_id{0}, 1}};
    std::vector<float> room;
    const std::vector<float> none{nothing, nothing};
    mixed_rows forbidden({none.data(), 1, 2, 2}, room);
    (void)forbidden.mix({1, 1, one}, {}, usual);
    CHECK(logits_rows<draft_id>(forbidden)[0].values[0] == nothing);
    const std::vector<float> wrong{0, std::numeric_limits<float>::quiet_NaN()};
    mixed_rows refused({wrong.data(), 1, 2, 2}, room);
    CHECK_THROWS_AS(refused.mix({1, 1, one}, {}, usual), error);
}

} // namespace cache_mixture_tests
