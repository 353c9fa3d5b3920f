// SPDX-License-Identifier: MIT
#include "papers/feature_loss.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "support/golden_gradient.hpp"

using namespace specdec;
using namespace specdec::papers;

namespace feature_loss_tests {

using numbers = std::vector<double>;

std::vector<float> random_features(std::size_t n, unsigned seed, float spread) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> x(n);
    for (float& v : x)
        v = normal(random);
    return x;
}

void check_slopes(const std::function<double(const numbers&)>& formula, const std::vector<float>& x,
                  const std::vector<float>& gradient) {
    numbers at(x.begin(), x.end());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double here = at[i];
        at[i] = here + 1e-5;
        const double above = formula(at);
        at[i] = here - 1e-5;
        const double slope = (above - formula(at)) / 2e-5;
        at[i] = here;
        CHECK(static_cast<double>(gradient[i]) == Approx(slope).epsilon(1e-4).margin(1e-6));
    }
}

TEST_CASE("regression is the mean smooth L1 of features") {
    const std::vector<float> made = random_features(30, 1, 2), wanted = random_features(30, 2, 1);
    std::vector<float> gradient(30, 77);
    const auto expected = [&](const numbers& x) {
        double sum = 0;
        for (std::size_t k = 0; k < x.size(); ++k) {
            const double d = std::abs(x[k] - static_cast<double>(wanted[k]));
            sum += d < 1 ? d * d / 2 : d - 0.5;
        }
        return 0.5 * sum / 30;
    };
    CHECK(regression_loss(made, wanted, gradient, 0.5) ==
          Approx(expected({made.begin(), made.end()})));
    check_slopes(expected, made, gradient);
    CHECK_THROWS_AS(regression_loss(made, std::span(wanted).first(29), gradient), error);
}

TEST_CASE("classification is the cross-entropy with the target's distribution") {
    const std::vector<float> logits = random_features(9, 4, 2);
    std::vector<float> p = random_features(9, 5, 1), gradient(9, 77);
    p[3] = 0;
    float sum = 0;
    for (float& x : p)
        sum += x = std::abs(x);
    for (float& x : p)
        x /= sum;
    const auto expected = [&](const numbers& z) {
        double all = 0, loss = 0;
        for (const double x : z)
            all += std::exp(x);
        for (std::size_t t = 0; t < z.size(); ++t)
            loss -= static_cast<double>(p[t]) * (z[t] - std::log(all));
        return 0.3 * loss;
    };
    CHECK(classification_loss(p, logits, gradient, 0.3) ==
          Approx(expected({logits.begin(), logits.end()})));
    check_slopes(expected, logits, gradient);
    CHECK_THROWS_WITH(classification_loss(std::span(p).first(8), logits, gradient),
                      Catch::Contains("sizes"));
}

TEST_CASE("alignment is InfoNCE of the last step with its position's other features") {
    constexpr std::size_t positions = 3, width = 4;
    for (const std::size_t steps : {1U, 2U, 3U}) {
        const std::size_t own = steps * positions, all = own + positions;
        const std::vector<float> views =
            random_features(all * width, static_cast<unsigned>(steps), 1);
        std::vector<float> gradient(own * width, 77);
        const auto expected = [&](const numbers& x) {
            const auto cos = [&](std::size_t a, std::size_t b) {
                double ab = 0, aa = 0, bb = 0;
                for (std::size_t k = 0; k < width; ++k) {
                    const double u = x[a * width + k], v = x[b * width + k];
                    ab += u * v, aa += u * u, bb += v * v;
                }
                return ab / std::sqrt(aa * bb);
            };
            double loss = 0;
            for (std::size_t q = own - positions; q < own; ++q) {
                double below = 0;
                for (std::size_t f = 0; f < all; ++f)
                    below += f == q ? 0 : std::exp(cos(q, f) / 0.2);
                for (std::size_t f = q % positions; f < all; f += positions)
                    if (f != q) // an f+
                        loss -= std::log(std::exp(cos(q, f) / 0.2) / below) /
                                static_cast<double>(steps);
            }
            return 0.7 * loss / positions;
        };
        CHECK(alignment_loss(views, positions, width, gradient, 0.7, 0.2) ==
              Approx(expected({views.begin(), views.end()})));
        check_slopes(expected, views, gradient);
    }
}

TEST_CASE("PyTorch's gradients of an alignment of three steps") {
    constexpr std::size_t positions = 5, width = 6, step = positions * width;
    std::vector<float> views;
    for (int phase = 1; phase <= 4; ++phase)
        for (std::size_t j = 0; j < step; ++j)
            views.push_back(static_cast<float>(std::sin(0.37 * static_cast<double>(j) + phase)));
    std::vector<float> gradient(3 * step);
    const double loss = alignment_loss(views, positions, width, gradient);
    testing::check_golden("alignment.txt", loss, gradient, 1e-5);
}

TEST_CASE("an alignment of views that do not fit is refused") {
    const std::vector<float> views = random_features(24, 3, 1), zeros(24);
    std::vector<float> gradient(12);
    const auto aligned = [&](std::span<const float> x, std::size_t width, double tau = 0.07) {
        return alignment_loss(x, 3, width, gradient, 1, tau);
    };
    CHECK_NOTHROW(aligned(views, 4));
    CHECK_THROWS_WITH(aligned(views, 5), Catch::Contains("sizes"));
    CHECK_THROWS_WITH(aligned(views, 0), Catch::Contains("sizes"));
    CHECK_THROWS_WITH(aligned(std::span(views).first(12), 4), Catch::Contains("sizes"));
    CHECK_THROWS_WITH(aligned(zeros, 4), Catch::Contains("zeros"));
    CHECK_THROWS_WITH(aligned(views, 4, 0), Catch::Contains("temperature"));
}

} // namespace feature_loss_tests
