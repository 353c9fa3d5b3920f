// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/position_of.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace position_of_tests {

std::size_t find(const std::vector<double>& weights, double target) {
    return position_of(target, weights.size(), [&](std::size_t first, std::span<double> values) {
        for (std::size_t j = 0; j < values.size(); ++j)
            values[j] = weights[first + j];
    });
}

TEST_CASE("the position that holds a point of the mass, in whatever chunk") {
    std::vector<double> weights(1000, 0.0);
    weights[3] = 1;
    weights[300] = 2;
    weights[999] = 0.5;
    CHECK(find(weights, 0.0) == 3);
    CHECK(find(weights, 0.99) == 3);
    CHECK(find(weights, 1.0) == 300);
    CHECK(find(weights, 2.99) == 300);
    CHECK(find(weights, 3.0) == 999);
    CHECK(find(weights, 3.5) == 999); // by rounding only
    weights[999] = 0;
    CHECK(find(weights, 3.0) == 300);
}

TEST_CASE("a sum in chains is the sum") {
    const std::vector<double> values{1, 2, 3, 4, 5, 6, 7};
    for (std::size_t n = 0; n <= values.size(); ++n)
        CHECK(chained_sum(std::span(values).first(n)) == static_cast<double>(n * (n + 1)) / 2);
}

} // namespace position_of_tests
