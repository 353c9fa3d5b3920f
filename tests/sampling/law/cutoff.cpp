// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/cutoff.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/law/softmax_law.hpp>

#include "sampling/random_rows.hpp"

using namespace specdec;

namespace {

/// The cutoffs with sorted copies, as one would write them down.
std::vector<bool> naive_kept(const std::vector<float>& row, const sampling_parameters& parameters) {
    const auto p = softmax(row, static_cast<double>(parameters.temperature));
    std::vector<std::size_t> order(row.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
    float lowest = row[order.back()];
    if (parameters.top_k > 0 && parameters.top_k < row.size())
        lowest = row[order[parameters.top_k - 1]];
    double left = 0, reached = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
        left += row[i] >= lowest ? p[i] : 0.0;
    for (const std::size_t i : order) {
        reached += p[i];
        if (reached >= static_cast<double>(parameters.top_p) * left * (1 - 1e-9)) {
            lowest = parameters.top_p < 1 ? std::max(lowest, row[i]) : lowest;
            break;
        }
    }
    std::vector<bool> kept(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
        kept[i] = row[i] > minus_infinity && row[i] >= lowest &&
                  p[i] >= static_cast<double>(parameters.min_p) * p[order[0]] * (1 - 1e-6);
    return kept;
}

void check_cutoffs(const std::vector<float>& row, const sampling_parameters& parameters) {
    INFO("size " << row.size() << " temperature " << parameters.temperature << " top_k "
                 << parameters.top_k << " top_p " << parameters.top_p << " min_p "
                 << parameters.min_p);
    const auto law = make_law(logits_row<target_id>{row}, parameters);
    const auto kept = naive_kept(row, parameters);
    const auto p = softmax(row, static_cast<double>(parameters.temperature));
    double left = 0, total = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
        left += kept[i] ? p[i] : 0.0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const double actual = law.probability(id_at<target_id>(i));
        if (kept[i] && p[i] / left > 1e-25)
            REQUIRE(actual == Approx(p[i] / left).epsilon(5e-6));
        if (!kept[i])
            REQUIRE(actual == 0);
        total += actual;
    }
    CHECK(std::abs(total - 1) < 1e-12);
}

const std::vector<sampling_parameters> settings{
    {.top_k = 1},
    {.top_k = 2},
    {.top_k = 40},
    {.top_k = 1000},
    {.top_p = 0.1F},
    {.top_p = 0.9F},
    {.top_p = 0.999F},
    {.top_p = 1e-7F},
    {.min_p = 0.05F},
    {.min_p = 1},
    {.temperature = 0.5F, .top_k = 20, .top_p = 0.8F},
    {.temperature = 2, .top_k = 100, .top_p = 0.95F, .min_p = 0.01F},
    {.temperature = 0.05F, .top_p = 0.95F},
};

} // namespace

TEST_CASE("cutoffs keep what sorting keeps") {
    for (const std::size_t size : sizes)
        for (const auto& parameters : settings)
            check_cutoffs(random_row(size, static_cast<unsigned>(size) + 11), parameters);
    for (const auto& parameters : settings)
        check_cutoffs(random_row(50000, 12), parameters);
}

TEST_CASE("equal logits are kept or dropped together") {
    std::mt19937 random(2);
    for (const std::size_t size : sizes) {
        std::vector<float> row(size);
        for (float& logit : row)
            logit = static_cast<float>(static_cast<int>(random() % 7) - 3);
        row[0] = 3.5F; // no tie that mass alone decides
        for (const auto& parameters : settings)
            check_cutoffs(row, parameters);
    }
    const std::vector<float> zeros{0.0F, -0.0F, -1};
    const auto law = make_law(logits_row<target_id>{zeros}, {.top_k = 1});
    CHECK(law.probability(target_id{0}) == 0.5);
    CHECK(law.probability(target_id{1}) == 0.5);
}

TEST_CASE("top_p that falls on a border keeps the smaller set") {
    const float two = std::log(2.0F);
    const std::vector<float> row{0, two, 0}; // 1/4, 1/2, 1/4
    const auto law = make_law(logits_row<target_id>{row}, {.top_p = 0.49F});
    CHECK(law.probability(target_id{1}) == 1);
    const auto all = make_law(logits_row<target_id>{row}, {.top_p = 0.51F});
    CHECK(all.probability(target_id{0}) == Approx(0.25));
}

TEST_CASE("forbidden ids count for no cutoff") {
    std::vector<float> row = random_row(1000, 7);
    for (std::size_t i = 0; i < row.size(); ++i)
        if (i % 100 != 0)
            row[i] = minus_infinity;
    for (const auto& parameters : settings)
        check_cutoffs(row, parameters);
}
