// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/reverse/rms_norm.hpp>

#include <catch2/catch.hpp>

#include "learn/finite_differences.hpp"

using namespace specdec::engine;
using namespace finite_differences;

TEST_CASE("RMSNorm and its reverse") {
    constexpr std::size_t d = 9, n = 4;
    const products team(std::make_shared<thread_pool>(1));
    auto x = some_numbers(d * n, 1), g = some_numbers(d, 2);
    const auto w = some_numbers(d * n, 3);
    std::vector<double> y(d * n), scales(n), dx(d * n), dg(d);
    const auto in = [&] { return constant(columns_of(x.data(), d, n)); };
    const auto loss = [&] {
        rms_norm(team, in(), g.data(), 1e-5, columns_of(y.data(), d, n), scales.data());
        return weighted(y, w);
    };
    (void)loss();
    double squares = 0;
    for (std::size_t k = 0; k < d; ++k)
        squares += x[d + k] * x[d + k];
    CHECK(y[d + 2] == Approx(g[2] * x[d + 2] / std::sqrt(squares / d + 1e-5)));
    const auto given = columns_of(w.data(), d, n);
    rms_norm_reverse(team, in(), g.data(), scales.data(), given, columns_of(dx.data(), d, n),
                     dg.data());
    CHECK(worst_error(x, dx, loss) < 1e-6);
    CHECK(worst_error(g, dg, loss) < 1e-6);
    // The gradient of x is added; that of g is left out where nobody wants it.
    const std::vector<double> once = dx;
    rms_norm_reverse(team, in(), g.data(), scales.data(), given, columns_of(dx.data(), d, n),
                     static_cast<double*>(nullptr));
    CHECK(dx[5] == Approx(2 * once[5]));
}
