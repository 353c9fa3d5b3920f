// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/draw.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "sampling/random_rows.hpp"

using namespace specdec;

namespace {

std::vector<target_id> top_of(const std::vector<float>& row, std::size_t count) {
    std::vector<target_id> ids(count);
    ids.resize(top_ids(logits_row<target_id>{row}, std::span(ids)));
    return ids;
}

std::vector<target_id> sorted_top(const std::vector<float>& row, std::size_t count) {
    std::vector<target_id> ids;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] > minus_infinity)
            ids.push_back(id_at<target_id>(i));
    std::stable_sort(ids.begin(), ids.end(),
                     [&](target_id a, target_id b) { return row[a.index()] > row[b.index()]; });
    ids.resize(std::min(count, ids.size()));
    return ids;
}

} // namespace

TEST_CASE("argmax is the lowest of the largest, wherever it stands") {
    for (const std::size_t size : sizes)
        for (std::size_t i = 0; i<size; i += size> 300 ? 41 : 1) {
            std::vector<float> row(size, -7);
            row[i] = row[size - 1] = 2;
            REQUIRE(argmax(logits_row<draft_id>{row}).index() == i);
        }
}

TEST_CASE("argmax finds nothing in a forbidden row and refuses NaN and infinity") {
    const std::vector<float> none{minus_infinity, minus_infinity};
    CHECK_FALSE(argmax(logits_row<target_id>{none}).valid());
    CHECK_FALSE(argmax(logits_row<target_id>{}).valid());
    for (const std::size_t size : sizes)
        for (const float bad : {std::nanf(""), -std::nanf(""), -minus_infinity})
            for (const std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
                std::vector<float> row = random_row(size, 1);
                row[place] = bad;
                CHECK_THROWS_AS(argmax(logits_row<target_id>{row}), error);
            }
}

TEST_CASE("top ids are those that sorting gives") {
    std::mt19937 random(1);
    for (const std::size_t size : sizes) {
        auto row = random_row(size, static_cast<unsigned>(size));
        for (const std::size_t count : {0U, 1U, 2U, 8U, 64U, 300U})
            CHECK(top_of(row, count) == sorted_top(row, count));
        for (float& logit : row) // many ties
            logit = static_cast<float>(random() % 5);
        for (const std::size_t count : {1U, 8U, 64U})
            CHECK(top_of(row, count) == sorted_top(row, count));
        std::fill(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(size / 2), minus_infinity);
        CHECK(top_of(row, 64) == sorted_top(row, 64));
    }
    std::vector<float> ascending(5000);
    std::iota(ascending.begin(), ascending.end(), 0.0F);
    CHECK(top_of(ascending, 64) == sorted_top(ascending, 64));
}

TEST_CASE("likeliest ids are the top ids of a row that holds numbers only, else refused") {
    const auto likeliest_of = [](const std::vector<float>& row, std::size_t count) {
        std::vector<target_id> ids(count);
        ids.resize(likeliest_ids(logits_row<target_id>{row}, std::span(ids)));
        return ids;
    };
    CHECK(likeliest_of({minus_infinity, minus_infinity}, 2).empty());
    for (const std::size_t size : sizes) {
        const auto row = random_row(size, static_cast<unsigned>(size));
        CHECK(likeliest_of(row, 3) == sorted_top(row, 3));
        for (const float bad : {std::nanf(""), -std::nanf(""), -minus_infinity})
            for (const std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
                auto broken = row;
                broken[place] = bad;
                CHECK_THROWS_AS(likeliest_of(broken, 3), error);
                if (bad != bad && size > 1)
                    CHECK(top_of(broken, 1).size() == 1);
            }
    }
}
