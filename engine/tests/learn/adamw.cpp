// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/adamw.hpp>

#include <cmath>
#include <fstream>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <specdec_engine/learn/clip_gradient.hpp>

namespace adamw_tests {

using namespace specdec::engine;
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
}

} // namespace adamw_tests
