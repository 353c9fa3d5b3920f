// SPDX-License-Identifier: MIT
#include <specdec/head/residual_router.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_rows.hpp"

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("the router is W2 (SiLU(W1 h) + h)") {
    constexpr std::size_t width = 11, groups = 3;
    const auto random = [](std::size_t n, std::uint64_t seed) {
        std::vector<float> out;
        for (std::size_t i = 0; i < n; ++i)
            out.push_back(static_cast<float>(scramble(seed, {}, i) % 1000) / 500.0F - 1.0F);
        return out;
    };
    const std::vector<float> w1 = random(width * width, 1), w2 = random(groups * width, 2),
                             h = random(width, 3);
    residual_router router(w1, w2, width);
    CHECK(router.groups() == groups);
    CHECK(router.width() == width);
    std::vector<float> out(groups);
    router.route({h}, out);
    for (std::size_t g = 0; g < groups; ++g) {
        double sum = 0;
        for (std::size_t i = 0; i < width; ++i) {
            double z = 0;
            for (std::size_t j = 0; j < width; ++j)
                z += static_cast<double>(w1[i * width + j]) * static_cast<double>(h[j]);
            sum += static_cast<double>(w2[g * width + i]) *
                   (z / (1 + std::exp(-z)) + static_cast<double>(h[i]));
        }
        CHECK(static_cast<double>(out[g]) == Approx(sum).margin(1e-5));
    }
}

TEST_CASE("router weights of other sizes are refused") {
    const std::vector<float> w1(9), w2(6);
    CHECK_NOTHROW(residual_router(w1, w2, 3));
    CHECK_THROWS_WITH(residual_router(w1, w2, 2), Catch::Contains("weights"));
    CHECK_THROWS_WITH(residual_router(w1, {}, 3), Catch::Contains("weights"));
    CHECK_THROWS_WITH(residual_router({}, {}, 0), Catch::Contains("weights"));
}
