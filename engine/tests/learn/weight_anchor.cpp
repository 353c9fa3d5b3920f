// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/weight_anchor.hpp>

#include <vector>

#include <catch2/catch.hpp>

namespace weight_anchor_tests {

using specdec::engine::weight_anchor;

TEST_CASE("an anchor pulls a share of the way back, at most all of it, and none without strength") {
    const std::vector<double> began = {1, -2, 0.3};
    const weight_anchor<double> anchor(400, began);
    std::vector<double> weights = {2, -2, 0.1};
    anchor.pull(weights, 1e-3);
    CHECK(weights[0] == Approx(1.6));
    CHECK(weights[1] == -2);
    CHECK(weights[2] == Approx(0.18));
    anchor.pull(weights, 0.5);
    CHECK(weights == began);
    const weight_anchor<double> none(0, began);
    CHECK(none.began().empty());
    weights = {5, 6, 7};
    none.pull(weights, 1);
    CHECK(weights == std::vector<double>{5, 6, 7});
    weight_anchor<double>().pull(weights, 1);
    CHECK(weights[2] == 7);
}

TEST_CASE("a weight whose steps have one sign goes as far as the rate divided by the share") {
    const std::vector<double> began = {0};
    const weight_anchor<double> anchor(400, began);
    std::vector<double> weights = began;
    const double lr = 1e-4, share = lr * 400;
    for (int i = 0; i < 2000; ++i) {
        weights[0] += lr;
        anchor.pull(weights, lr);
    }
    CHECK(weights[0] == Approx(lr * (1 - share) / share));
}

} // namespace weight_anchor_tests
