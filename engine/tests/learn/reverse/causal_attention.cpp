// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/reverse/causal_attention.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "learn/finite_differences.hpp"

namespace causal_attention_tests {

using namespace specdec::engine;
using namespace finite_differences;

TEST_CASE("causal attention is the sum that it is said to be, across tiles, and its reverse") {
    constexpr std::size_t d = 5;
    for (const std::size_t n : {1UL, 7UL, query_tile, query_tile + 6}) {
        auto q = some_numbers(d * n, 1), k = some_numbers(d * n, 2), v = some_numbers(d * n, 3);
        const auto w = some_numbers(d * n, 4);
        std::vector<double> out(d * n), dq = w, dk(d * n), dv(d * n);
        causal_scratch<double> scratch(n + 3);
        const auto view = [&](std::vector<double>& m) { return columns_of(m.data(), d, n); };
        const auto loss = [&] {
            causal_attention(constant(view(q)), constant(view(k)), constant(view(v)), view(out),
                             scratch);
            return weighted(out, w);
        };
        (void)loss();
        for (const std::size_t j : {std::size_t{0}, n / 2, n - 1}) {
            double sum = 0, first = 0;
            for (std::size_t i = 0; i <= j; ++i) {
                const double e = std::exp(view(k).col(index_of(i)).dot(view(q).col(index_of(j))) /
                                          std::sqrt(static_cast<double>(d)));
                sum += e;
                first += e * v[i * d];
            }
            CHECK(out[j * d] == Approx(first / sum));
        }
        // dq takes the place of the gradient of what attention gives.
        causal_attention_reverse(constant(view(q)), constant(view(k)), constant(view(v)),
                                 constant(view(dq)), view(dq), view(dk), view(dv), scratch);
        CHECK(worst_error(v, dv, loss) < 1e-6);
        if (n == 1)
            continue; // one key has all the weight: nothing depends on it
        CHECK(worst_error(q, dq, loss) < 1e-6);
        CHECK(worst_error(k, dk, loss) < 1e-6);
    }
}

struct attended {
    std::vector<double> out, dq, dk, dv;
};

/// Attention of 130 positions and its reverse, with the products of a kind of numbers.
template <class Scalar>
attended of_numbers(const product_settings& multiplied) {
    constexpr std::size_t d = 20, n = 2 * query_tile + 2;
    const auto some = [](unsigned seed) {
        const auto x = some_numbers(d * n, seed);
        return std::vector<Scalar>(x.begin(), x.end());
    };
    auto q = some(1), k = some(2), v = some(3), dq = some(4), out = some(5), dk = some(6), dv = dk;
    const auto view = [](std::vector<Scalar>& m) { return columns_of(m.data(), d, n); };
    causal_scratch<Scalar> scratch(n, multiplied);
    causal_attention(constant(view(q)), constant(view(k)), constant(view(v)), view(out), scratch);
    causal_attention_reverse(constant(view(q)), constant(view(k)), constant(view(v)),
                             constant(view(dq)), view(dq), view(dk), view(dv), scratch);
    const auto wide = [](const auto& m) { return std::vector<double>(m.begin(), m.end()); };
    return {wide(out), wide(dq), wide(dk), wide(dv)};
}

/// The distance over the size.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double apart = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        apart += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return std::sqrt(apart / size);
}

TEST_CASE("causal attention of floats, through the panel kernels, is that of doubles, rounded") {
    const attended exact = of_numbers<double>({});
    const auto check = [&](const product_settings& multiplied, double bound) {
        const attended found = of_numbers<float>(multiplied);
        CHECK(distance(found.out, exact.out) < bound);
        CHECK(distance(found.dq, exact.dq) < bound);
        CHECK(distance(found.dk, exact.dk) < bound);
        CHECK(distance(found.dv, exact.dv) < bound);
    };
    for (const isa set : {isa::portable, isa::amx}) {
        check({product_numbers::f32, set}, 1e-6);
        check({product_numbers::bf16, set}, 1e-2);
    }
}

} // namespace causal_attention_tests
