// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/softmax_law.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "sampling/interval_measure.hpp"
#include "sampling/random_rows.hpp"

using namespace specdec;

namespace {

softmax_law<target_id> softmax_of(const std::vector<float>& row,
                                  const sampling_parameters& parameters = {}) {
    return make_law(logits_row<target_id>{row}, parameters);
}

std::vector<double> probabilities_of(const softmax_law<target_id>& law) {
    std::vector<double> p;
    for (std::size_t i = 0; i < law.size(); ++i)
        p.push_back(law.probability(id_at<target_id>(i)));
    return p;
}

/// Every probability within the promised error of the oracle's; a total of 1 far more exactly.
void check_softmax(const std::vector<float>& row, float temperature) {
    const auto law = softmax_of(row, {.temperature = temperature});
    const auto expected = softmax(row, static_cast<double>(temperature));
    const auto actual = probabilities_of(law);
    const double likeliest = *std::max_element(expected.begin(), expected.end());
    double total = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        INFO("id " << i << " logit " << row[i]);
        if (expected[i] > 1e-25)
            REQUIRE(std::abs(actual[i] / expected[i] - 1) <=
                    2e-6 + 1.5e-7 * std::log2(likeliest / expected[i]));
        else
            REQUIRE(actual[i] <= 1.001e-25);
        if (row[i] == minus_infinity)
            REQUIRE(actual[i] == 0);
        if (actual[i] > 0)
            REQUIRE(std::exp(law.log_probability(id_at<target_id>(i))) ==
                    Approx(actual[i]).epsilon(1e-5));
        else
            REQUIRE(law.log_probability(id_at<target_id>(i)) < -60);
        total += actual[i];
    }
    CHECK(std::abs(total - 1) < 1e-12);
    const auto top =
        static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    CHECK(law.top().index() == top);
}

} // namespace

static_assert(FillsProbabilities<softmax_law<target_id>>);

TEST_CASE("softmax of every size and temperature") {
    for (const std::size_t size : sizes)
        for (const float temperature : {1.0F, 0.7F, 0.05F, 3.0F}) {
            INFO("size " << size << " temperature " << temperature);
            check_softmax(random_row(size, static_cast<unsigned>(size)), temperature);
        }
    check_softmax(random_row(128256, 9), 1);
    check_softmax(random_row(128256, 9), 0.3F);
}

TEST_CASE("softmax of difficult rows") {
    const float lowest = std::numeric_limits<float>::lowest(), tiny = 1e-42F;
    const std::vector<std::vector<float>> rows{
        {0},
        {minus_infinity, 3, minus_infinity},
        {1e30F, -1e30F, 1e30F},
        {-1e30F, -1e30F, -1e30F},
        {lowest, 0, -lowest},
        {lowest, lowest},
        {tiny, -tiny, 0, -0.0F},
        {0, 50, 100, 250, 249.5F},
        {1e4F, 1e4F + 1, 1e4F - 1},
        std::vector<float>(3000, 7),
    };
    for (const auto& row : rows) {
        INFO("row of " << row.size() << " from " << row[0]);
        check_softmax(row, 1);
        check_intervals<target_id>(softmax_of(row), 1e-12);
    }
}

TEST_CASE("a maximum far above what the front of the row lets expect") {
    for (const float height : {50.0F, 80.0F, 100.0F, 1000.0F, 1e30F})
        for (const std::size_t place : {std::size_t{0}, std::size_t{1500}, std::size_t{4999}}) {
            std::vector<float> row = random_row(5000, 3);
            row[place] = height;
            row[(place + 2500) % 5000] = height - 1;
            INFO("height " << height << " place " << place);
            check_softmax(row, 1);
            std::fill(row.begin(), row.begin() + 2000, minus_infinity);
            row[3000] = height;
            check_softmax(row, 1);
        }
}

TEST_CASE("at(u) measures probability") {
    for (const std::size_t size : sizes) {
        INFO("size " << size);
        std::vector<float> row = random_row(size, static_cast<unsigned>(size) + 1);
        check_intervals<target_id>(softmax_of(row), 1e-12);
        for (std::size_t i = 0; i + 1 < size; i += 3)
            row[i] = minus_infinity;
        check_intervals<target_id>(softmax_of(row), 1e-12);
        check_intervals<target_id>(
            softmax_of(row, {.temperature = 0.8F, .top_k = 9, .top_p = 0.9F}), 1e-12);
    }
}

TEST_CASE("at(u) finds the middle of every interval of a large row") {
    const std::vector<float> row = random_row(128256, 4);
    const auto law = softmax_of(row);
    double reached = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const double p = law.probability(id_at<target_id>(i));
        if (p > 1e-11)
            REQUIRE(law.at(reached + p / 2).index() == i);
        reached += p;
    }
}

TEST_CASE("at(u) never gives an id without probability, even at the ends") {
    for (const std::size_t size : sizes) {
        if (size < 3)
            continue;
        std::vector<float> row = random_row(size, 5);
        row.front() = row.back() = minus_infinity;
        std::fill(row.begin() + static_cast<std::ptrdiff_t>(size - size / 3), row.end(),
                  minus_infinity);
        const auto law = softmax_of(row);
        for (const double u : {0.0, std::nextafter(0.0, 1.0), 0.5, std::nextafter(1.0, 0.0), 1.0})
            CHECK(law.probability(law.at(u)) > 0);
    }
}

TEST_CASE("temperature 0 is the lowest of the largest") {
    for (const std::size_t size : sizes) {
        std::vector<float> row(size, -2);
        row[size - 1] = row[size / 2] = 4;
        const auto law = softmax_of(row, {.temperature = 0});
        CHECK(law.at(0.99).index() == size / 2);
        CHECK(law.top().index() == size / 2);
        CHECK(law.log_sum_exp() == 4);
        const auto p = probabilities_of(law);
        CHECK(p[size / 2] == 1);
        CHECK(std::accumulate(p.begin(), p.end(), 0.0) == 1);
        CHECK(law.log_probability(law.top()) == 0);
    }
}

TEST_CASE("many probabilities at once are the same bits") {
    for (const float temperature : {1.0F, 0.0F}) {
        const auto row = random_row(1000, 6);
        const auto law = softmax_of(row, {.temperature = temperature, .top_k = 300});
        const auto expected = probabilities_of(law);
        for (const std::size_t first : {std::size_t{0}, std::size_t{1}, std::size_t{700},
                                        std::size_t{999}, std::size_t{1000}, std::size_t{5000}}) {
            std::vector<double> values(600, -1);
            law.probabilities(first, values);
            for (std::size_t j = 0; j < values.size(); ++j)
                REQUIRE(values[j] == (first + j < expected.size() ? expected[first + j] : 0.0));
        }
    }
}

TEST_CASE("an id outside the row has no probability") {
    const std::vector<float> row{1, 2};
    for (const float temperature : {0.0F, 1.0F}) {
        const auto law = softmax_of(row, {.temperature = temperature});
        CHECK(law.probability(target_id{2}) == 0);
        CHECK(law.log_probability(target_id{2}) == -std::numeric_limits<double>::infinity());
    }
}

TEST_CASE("log_sum_exp is of the whole row, before the cutoffs") {
    for (const std::size_t size : {std::size_t{5}, std::size_t{40000}}) {
        const auto row = random_row(size, 8);
        for (const float temperature : {1.0F, 0.2F, 2.0F}) {
            double sum = 0;
            for (const float logit : row)
                sum += std::exp(static_cast<double>(logit) / static_cast<double>(temperature));
            for (const std::size_t top_k : {std::size_t{0}, std::size_t{3}})
                CHECK(softmax_of(row, {.temperature = temperature, .top_k = top_k}).log_sum_exp() ==
                      Approx(std::log(sum)).epsilon(1e-6));
        }
    }
}

TEST_CASE("padding behind the logical vocabulary is not read") {
    std::vector<float> padded = random_row(130, 2);
    const std::vector<float> row(padded.begin(), padded.begin() + 101);
    std::fill(padded.begin() + 101, padded.end(), std::nanf(""));
    const logits_rows<target_id> rows(padded.data(), 1, 101, 130);
    const softmax_law law(rows[0]);
    CHECK(law.size() == 101);
    CHECK(probabilities_of(law) == probabilities_of(softmax_of(row)));
}

TEST_CASE("logits that are no law are refused") {
    const auto refuse = [](const std::vector<float>& row, float temperature) {
        CHECK_THROWS_AS(softmax_of(row, {.temperature = temperature}), error);
    };
    for (const float temperature : {0.0F, 1.0F}) {
        refuse({}, temperature);
        refuse({minus_infinity, minus_infinity}, temperature);
        refuse({1, -minus_infinity}, temperature);
        refuse({std::nanf(""), std::nanf("")}, temperature);
        refuse(std::vector<float>(5000, minus_infinity), temperature);
    }
    for (const std::size_t place : {std::size_t{0}, std::size_t{77}, std::size_t{4999}}) {
        std::vector<float> row = random_row(5000, 1);
        for (const float nan : {std::nanf(""), -std::nanf("")})
            for (const float temperature : {0.0F, 0.01F, 1.0F}) {
                row[place] = nan;
                refuse(row, temperature);
            }
    }
    CHECK_THROWS_AS(softmax_of({1, 2}, {.temperature = -1}), error);
}
