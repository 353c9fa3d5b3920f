// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/reverse/swiglu.hpp>

#include <catch2/catch.hpp>

#include "learn/finite_differences.hpp"

using namespace specdec::engine;
using namespace finite_differences;

TEST_CASE("SwiGLU and its reverse, over more units than a part of it") {
    constexpr std::size_t h = 70, n = 3;
    const products team(std::make_shared<thread_pool>(1));
    auto units = some_numbers(2 * h * n, 1);
    for (double& v : units)
        v *= 4;
    const auto w = some_numbers(h * n, 2);
    std::vector<double> hidden(h * n);
    const auto loss = [&] {
        swiglu(team, constant(columns_of(units.data(), 2 * h, n)), columns_of(hidden.data(), h, n));
        return weighted(hidden, w);
    };
    (void)loss();
    CHECK(hidden[h + 1] ==
          Approx(units[2 * h + 1] / (1 + std::exp(-units[2 * h + 1])) * units[3 * h + 1]));
    std::vector<double> gradient = units;
    swiglu_reverse(team, columns_of(w.data(), h, n), columns_of(gradient.data(), 2 * h, n));
    CHECK(worst_error(units, gradient, loss) < 1e-6);
}

TEST_CASE("SwiGLU of gates far from zero") {
    const products team(std::make_shared<thread_pool>(1));
    std::vector<float> units = {-200, 200, 0, 1, 2, 3}, hidden(3);
    swiglu(team, constant(columns_of(units.data(), 6, 1)), columns_of(hidden.data(), 3, 1));
    CHECK(hidden == std::vector<float>{0, 400, 0});
    const std::vector<float> ones(3, 1);
    swiglu_reverse(team, columns_of(ones.data(), 3, 1), columns_of(units.data(), 6, 1));
    CHECK(units == std::vector<float>{0, 2, 1.5, 0, 200, 0});
}
