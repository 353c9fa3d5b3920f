// SPDX-License-Identifier: MIT
#include <specdec/reference/learn/reverse/causal_attention.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "reference/learn/finite_differences.hpp"

namespace causal_attention_tests {

using namespace specdec::reference;
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

} // namespace causal_attention_tests
