// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/row_softmax.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace row_softmax_tests {

logits_row<draft_id> row(const std::vector<float>& z) {
    return {z};
}

TEST_CASE("q is the softmax of the row at the temperature") {
    require_holds([] {
        const loss_toy toy = *loss_toys();
        const double temperature = *any_of(std::vector<double>{1, 0.25, 3});
        const row_softmax q(row(toy.z), temperature);
        const auto expected = plain_softmax(widened(toy.z), temperature);
        RC_ASSERT(q.size() == toy.draft());
        for (std::size_t i = 0; i < q.size(); ++i) {
            const draft_id d = id_at<draft_id>(i);
            RC_ASSERT(close(q.probability(d), expected[i], 1e-13));
            if (toy.z[i] == forbidden)
                RC_ASSERT(q.log_probability(d) == -std::numeric_limits<double>::infinity());
            else
                RC_ASSERT(close(q.log_probability(d), std::log(expected[i]), 1e-13));
        }
    });
}

TEST_CASE("probabilities of many tokens are those of each, and none behind the last one") {
    std::vector<float> z(3 * row_softmax::at_once + 5);
    std::vector<std::int32_t> mask(z.size(), 3);
    for (std::size_t i = 0; i < z.size(); ++i) {
        z[i] = static_cast<float>(i * 37 % 101) * 0.2F - 7;
        mask[i] = i % 9 == 4 ? -1 : 3;
    }
    for (const std::vector<std::int32_t>& some : {std::vector<std::int32_t>{}, mask}) {
        const row_softmax q(row(z), some, 0.7);
        double sum = 0;
        for (std::size_t first = 0; first < z.size(); first += row_softmax::at_once) {
            double found[row_softmax::at_once];
            q.probabilities(first, found);
            for (std::size_t i = 0; i < row_softmax::at_once; ++i) {
                sum += found[i];
                if (first + i >= z.size())
                    CHECK(found[i] == 0);
                else
                    CHECK(found[i] ==
                          Approx(q.probability(id_at<draft_id>(first + i))).epsilon(1e-13));
            }
        }
        CHECK(sum == Approx(1).epsilon(1e-13));
    }
}

TEST_CASE("a mask leaves the rest of a row, whatever stands elsewhere") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> z{1, nan, 2, -forbidden};
    const std::vector<std::int32_t> mask{7, -1, 0, -1};
    const row_softmax q(row(z), mask, 1);
    CHECK(q.probability(draft_id{0}) == Approx(1 / (1 + std::exp(1.0))));
    CHECK(q.probability(draft_id{1}) == 0);
    CHECK(q.probability(draft_id{3}) == 0);
}

TEST_CASE("logits of any size, and log-probabilities where probabilities underflow") {
    const std::vector<float> z{3e38F, -3e38F, 3e38F};
    const row_softmax q(row(z));
    CHECK(q.probability(draft_id{0}) == Approx(0.5));
    CHECK(q.probability(draft_id{1}) == 0);
    CHECK(q.log_probability(draft_id{1}) == Approx(-6e38).epsilon(1e-6));
    const std::vector<float> steep{0, -5};
    CHECK(row_softmax(row(steep), 1e-3).log_probability(draft_id{1}) == Approx(-5000));
}

TEST_CASE("rows that have no law are refused") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::vector<float>& z : {std::vector<float>{},
                                        {forbidden, forbidden},
                                        {0, nan},
                                        {nan, nan},
                                        {0, -forbidden},
                                        {forbidden, nan}})
        CHECK_THROWS_WITH(row_softmax(row(z)), Catch::Contains("logits"));
    const std::vector<float> z{0, 1};
    for (const double temperature : {0.0, -1.0, 1e7, static_cast<double>(nan)})
        CHECK_THROWS_WITH(row_softmax(row(z), temperature), Catch::Contains("temperature"));
    const std::vector<std::int32_t> mask{1};
    CHECK_THROWS_WITH(row_softmax(row(z), mask, 1), Catch::Contains("mask"));
}

} // namespace row_softmax_tests
