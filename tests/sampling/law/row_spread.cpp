// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/row_spread.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

#include "sampling/random_rows.hpp"

using namespace specdec;

TEST_CASE("a spread is that of the softmax at temperature 1") {
    for (const std::size_t size : sizes) {
        std::vector<float> row = random_row(size, static_cast<unsigned>(size));
        if (size > 2)
            row[size / 2] = minus_infinity;
        const std::vector<double> p = softmax(row);
        double entropy = 0;
        for (const double x : p)
            entropy -= x > 0 ? x * std::log(x) : 0;
        const row_spread sure(row, row_reading::sureness), all(row, row_reading::entropy);
        CHECK(sure.entropy == 0);
        CHECK(all.entropy == Approx(entropy).epsilon(1e-5).margin(1e-6));
        CHECK(all.log_sum == sure.log_sum);
        for (std::size_t i = 0; i < size; i += 1 + size / 9)
            CHECK(sure.sureness(row[i]) == Approx(p[i]).epsilon(1e-5));
    }
    CHECK(row_spread({}, row_reading::none).log_sum == 0); // not looked at
}

TEST_CASE("rows that are no law have no spread") {
    for (const row_reading what : {row_reading::sureness, row_reading::entropy}) {
        const auto refuse = [&](const std::vector<float>& row) {
            CHECK_THROWS_WITH(row_spread(row, what), Catch::Contains("logits row"));
        };
        refuse({});
        refuse(std::vector<float>(400, minus_infinity));
        refuse(std::vector<float>(400, std::nanf("")));
        for (const float bad : {std::nanf(""), -std::nanf(""), -minus_infinity})
            for (const std::size_t size : {std::size_t{1}, std::size_t{5}, std::size_t{4100}})
                for (const std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
                    std::vector<float> row = random_row(size, 3);
                    row[place] = bad;
                    refuse(row);
                    std::fill(row.begin(), row.end(), minus_infinity);
                    row[place] = bad;
                    refuse(row);
                }
    }
}
