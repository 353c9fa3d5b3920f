// SPDX-License-Identifier: MIT
#include <specdec/reference/learn/adamw.hpp>

#include <cmath>
#include <fstream>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <specdec/reference/learn/clip_gradient.hpp>
#include <specdec/reference/learn/learning_rate.hpp>

namespace adamw_tests {

using namespace specdec::reference;
using Catch::Contains;

/// The worst difference from PyTorch's weights behind each of its steps.
template <class Scalar>
double worst_difference() {
    std::ifstream file(SPECDEC_SOURCE_DIR "/tests/golden/adamw.json");
    const auto golden = nlohmann::json::parse(file);
    parameter_layout layout;
    layout.add("matrix", {3, 4});
    layout.add("vector", {5});
    auto weights = golden["weights"].get<std::vector<Scalar>>();
    adamw<Scalar> optimiser(layout.size(),
                            {.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1});
    double worst = 0;
    for (const nlohmann::json& step : golden["steps"]) {
        auto gradient = step["gradient"].get<std::vector<Scalar>>();
        const double norm = clip_gradient(std::span<Scalar>(gradient), 1.0);
        CHECK(norm == Approx(step["norm"].get<double>()).epsilon(1e-6));
        optimiser.step(layout, weights, gradient, step["rate"].get<double>());
        const auto expected = step["weights"].get<std::vector<double>>();
        for (std::size_t i = 0; i < expected.size(); ++i)
            worst = std::max(worst, std::abs(static_cast<double>(weights[i]) - expected[i]));
    }
    CHECK(optimiser.steps() == 6);
    return worst;
}

TEST_CASE("AdamW and clipping do what PyTorch's do") {
    CHECK(worst_difference<double>() < 1e-7); // PyTorch adds 1e-6 to the norm that it divides by
    CHECK(worst_difference<float>() < 1e-6);
}

TEST_CASE("a gradient that is not finite is told, not clipped") {
    std::vector<float> gradient = {3, 4};
    CHECK(gradient_norm(std::span<const float>(gradient)) == 5);
    CHECK(clip_gradient(std::span<float>(gradient), 10.0) == 5);
    CHECK(gradient == std::vector<float>{3, 4});
    CHECK(clip_gradient(std::span<float>(gradient), 1.0) == 5);
    CHECK(gradient[1] == Approx(0.8F));
    gradient[0] = INFINITY;
    CHECK(clip_gradient(std::span<float>(gradient), 1.0) == INFINITY);
    CHECK(gradient[1] == Approx(0.8F));
}

TEST_CASE("vectors decay where they are told to") {
    parameter_layout layout;
    layout.add("matrix", {1, 1});
    layout.add("vector", {1});
    for (const bool vectors : {false, true}) {
        std::vector<double> weights = {2, 2}, gradient = {0, 0};
        adamw<double> optimiser(2, {.weight_decay = 0.5, .decays_vectors = vectors});
        optimiser.step(layout, weights, gradient, 0.1);
        CHECK(weights[0] == Approx(2 * 0.95));
        CHECK(weights[1] == Approx(vectors ? 2 * 0.95 : 2));
    }
}

TEST_CASE("settings that are none are refused by name") {
    CHECK_THROWS_WITH(adamw<float>(1, {.beta1 = 1}), Contains("AdamW: beta1: "));
    CHECK_THROWS_WITH(adamw<float>(1, {.beta2 = -1}), Contains("AdamW: beta2: "));
    CHECK_THROWS_WITH(adamw<float>(1, {.epsilon = 0}), Contains("AdamW: epsilon: "));
    CHECK_THROWS_WITH(adamw<float>(1, {.weight_decay = -1}), Contains("AdamW: weight decay: "));
    CHECK_THROWS_WITH(check(learning_rate{.peak = 0}), Contains("learning rate: peak: "));
    CHECK_THROWS_WITH(check(learning_rate{.peak = 1, .least = 2}), Contains("least: "));
    CHECK_THROWS_WITH(check(learning_rate{.warmup = 2, .steps = 1}), Contains("warmup: "));
}

TEST_CASE("the step size warms up, falls along half a cosine and stays") {
    const learning_rate rate{.peak = 2, .least = 0.5, .warmup = 4, .steps = 12};
    check(rate);
    CHECK(rate(0) == 0.5);
    CHECK(rate(3) == 2);
    CHECK(rate(4) == 2);
    CHECK(rate(6) == Approx(0.5 + 1.5 * (1 + std::cos(0.25 * 3.14159265358979)) / 2));
    CHECK(rate(8) == Approx(1.25));
    CHECK(rate(12) == 0.5);
    CHECK(rate(1000) == 0.5);
    const learning_rate warm{.peak = 1, .warmup = 2, .steps = 2};
    CHECK(warm(1) == 1);
    CHECK(warm(2) == 0);
}

} // namespace adamw_tests
