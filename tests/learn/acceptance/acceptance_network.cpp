// SPDX-License-Identifier: MIT
#include <specdec/learn/acceptance/acceptance_network.hpp>

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace acceptance_network_tests {

struct toy {
    acceptance_shape shape{.embedding = 5, .width = 4};
    std::vector<double> parameters = std::vector<double>(shape.parameters());
    std::vector<float> e = std::vector<float>(5);
    draft_progress now{.drafted = 3, .sure = 0.3, .entropy = 1.7, .token = draft_id{0}};

    explicit toy(unsigned seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal;
        for (double& p : parameters)
            p = normal(random);
        for (float& x : e)
            x = static_cast<float>(normal(random)) * 100;
    }
    [[nodiscard]] std::array<double, 2> logits(const std::vector<float>& of) const {
        return acceptance_logits<double>(shape, parameters, {now, of});
    }
};

TEST_CASE("the gradient is that of finite differences") {
    for (unsigned seed = 1; seed <= 5; ++seed)
        for (const bool with_token : {true, false}) {
            toy t(seed);
            const std::vector<float> e = with_token ? t.e : std::vector<float>{};
            const std::array<double, 2> df{0.7, -1.3};
            const auto loss = [&] {
                const auto f = t.logits(e);
                return df[0] * f[0] + df[1] * f[1];
            };
            std::vector<double> gradient(t.parameters.size(), 1.0); // is added to
            acceptance_gradient<double>(t.shape, t.parameters, {t.now, e}, df, gradient);
            for (std::size_t i = 0; i < gradient.size(); ++i) {
                const double at = t.parameters[i], h = 1e-6;
                t.parameters[i] = at + h;
                const double above = loss();
                t.parameters[i] = at - h;
                const double below = loss();
                t.parameters[i] = at;
                CHECK(std::abs((above - below) / (2 * h) - (gradient[i] - 1)) < 1e-7);
            }
        }
}

TEST_CASE("what the network sees") {
    const toy t(3);
    const acceptance_features x(t.now, t.e);
    double squares = 0;
    x.each(5, [&](std::size_t i, double x_i) { squares += i < 5 ? x_i * x_i : 0; });
    CHECK(squares == Approx(5)); // whatever the scale of embeddings
    CHECK(x.scalars[0] == Approx(std::log(0.3)));
    CHECK(x.scalars[1] == 1.7);
    CHECK(x.scalars[2] == Approx(std::log(4.0)));
    CHECK(acceptance_features({.sure = 0}, {}).scalars[0] == -12);
    const acceptance_features first({}, {});
    first.each(5, [&](std::size_t, double x_i) { CHECK(x_i == 0); });
    const std::vector<float> zeros(5);
    const auto with_zeros = t.logits(zeros), without = t.logits({});
    CHECK(with_zeros == without);
}

TEST_CASE("sizes that are not the shape's are refused") {
    toy t(1);
    CHECK_THROWS_AS(t.logits(std::vector<float>(4)), error);
    t.parameters.pop_back();
    CHECK_THROWS_AS(t.logits(t.e), error);
    CHECK(sigmoid(-800) == 0);
    CHECK(sigmoid(800) == 1);
    CHECK(sigmoid(0) == 0.5);
}

} // namespace acceptance_network_tests
