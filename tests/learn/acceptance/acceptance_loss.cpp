// SPDX-License-Identifier: MIT
#include <specdec/learn/acceptance/acceptance_loss.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/holds.hpp"

using namespace specdec;

namespace acceptance_loss_tests {

long double formula(long double f, long double a, acceptance_weights w) {
    const long double s = 1 / (1 + std::exp(-f));
    return -w.accepted * a * std::log(s) - w.rejected * (1 - a) * std::log(1 - s);
}

TEST_CASE("the acceptance loss is the formula, and its gradient the formula's") {
    testing::require_holds([] {
        const auto weight = any_of(std::vector<double>{1, 0, 0.5, 6});
        const acceptance_weights weights{.accepted = *weight, .rejected = *weight};
        std::vector<float> logits, labels;
        for (std::size_t n = *any_in(0, 6); n > 0; --n) {
            logits.push_back(static_cast<float>(*any_in(0, 22)) - 11);
            labels.push_back(static_cast<float>(*any_in(0, 10)) / 10);
        }
        std::vector<float> gradient(logits.size(), 77);
        long double expected = 0;
        const double value = acceptance_loss(logits, labels, gradient, weights);
        for (std::size_t i = 0; i < logits.size(); ++i) {
            const long double f = logits[i], a = labels[i], step = 1e-6L;
            expected += formula(f, a, weights);
            const long double slope =
                (formula(f + step, a, weights) - formula(f - step, a, weights)) / (2 * step);
            RC_ASSERT(std::abs(static_cast<long double>(gradient[i]) - slope) < 2e-6L);
        }
        RC_ASSERT(std::abs(static_cast<long double>(value) - expected) < 1e-10L);
    });
}

TEST_CASE("an acceptance head that is right has the least loss") {
    for (const float a : {0.1F, 0.5F, 0.8F}) {
        const float f[] = {std::log(a / (1 - a))};
        float slope[1];
        acceptance_loss(f, {&a, 1}, slope);
        CHECK(std::abs(slope[0]) < 1e-7F);
    }
}

TEST_CASE("acceptance logits of any size, in the gradient's own memory") {
    std::vector<float> both{3e38F, -3e38F, 200, -200};
    const std::vector<float> labels{1, 0, 0, 1};
    CHECK(acceptance_loss(both, labels, both) == 400);
    CHECK(both == std::vector<float>{0, 0, 1, -1});
}

TEST_CASE("an acceptance loss of what does not fit is refused") {
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const std::vector<float> ok{0.5F, 0.5F};
    std::vector<float> out(2);
    const auto loss = [&](std::vector<float> logits, std::vector<float> labels,
                          acceptance_weights weights = {}) {
        return acceptance_loss(logits, labels, out, weights);
    };
    CHECK_NOTHROW(loss(ok, ok));
    CHECK_THROWS_WITH(loss({0}, ok), Catch::Contains("sizes"));
    CHECK_THROWS_WITH(loss(ok, {0}), Catch::Contains("sizes"));
    CHECK_THROWS_WITH(loss({0}, {0}), Catch::Contains("sizes"));
    for (const float bad : {infinity, -infinity, nan})
        CHECK_THROWS_WITH(loss({0, bad}, ok), Catch::Contains("logits"));
    for (const float bad : {-0.1F, 1.1F, nan})
        CHECK_THROWS_WITH(loss(ok, {0, bad}), Catch::Contains("labels"));
    for (const float bad : {-1.0F, infinity, nan}) {
        const auto weight = static_cast<double>(bad);
        CHECK_THROWS_WITH(loss(ok, ok, {.accepted = weight}), Catch::Contains("weights"));
        CHECK_THROWS_WITH(loss(ok, ok, {.rejected = weight}), Catch::Contains("weights"));
    }
}

} // namespace acceptance_loss_tests
