// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/exponentials.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

namespace exponentials_tests {

using namespace specdec;

std::vector<builtin::instructions> usable_here() {
    std::vector<builtin::instructions> sets{builtin::instructions::any};
    for (const auto set : {builtin::instructions::avx2_fma, builtin::instructions::avx512})
        if (set <= builtin::of_this_cpu())
            sets.push_back(set);
    return sets;
}

TEST_CASE("exponentials of many numbers are those of the C library, with all instructions") {
    for (const builtin::instructions set : usable_here()) {
        double worst = 0;
        for (std::size_t t = 0; t < 400; ++t) {
            double x[exponentials_at_once], asked[exponentials_at_once];
            for (std::size_t i = 0; i < exponentials_at_once; ++i)
                x[i] = asked[i] = 1 - static_cast<double>(t * exponentials_at_once + i) *
                                          (t % 2 == 0 ? 1e-4 : 0.027);
            exponentials_detail::of(set)(x);
            for (std::size_t i = 0; i < exponentials_at_once; ++i)
                worst = std::max(worst, std::abs(x[i] / std::exp(asked[i]) - 1));
        }
        CHECK(worst < 4.5e-16);
    }
}

TEST_CASE("exponentials of what is no usual number") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const builtin::instructions set : usable_here()) {
        double x[exponentials_at_once] = {0,    -infinity, std::nan(""), -1e300,
                                          -709, -750,      -707.9,       700};
        exponentials_detail::of(set)(x);
        CHECK(x[0] == 1);
        CHECK(x[1] == 0);
        CHECK(std::isnan(x[2]));
        CHECK(x[3] == 0);
        CHECK(x[4] <= 1e-307);
        CHECK(x[5] <= 1e-307);
        CHECK(x[6] == Approx(std::exp(-707.9)).epsilon(1e-14));
        CHECK(x[7] == Approx(std::exp(700.0)).epsilon(1e-14));
        CHECK(x[exponentials_at_once - 1] == 1);
    }
}

} // namespace exponentials_tests
