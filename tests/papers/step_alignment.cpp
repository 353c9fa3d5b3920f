// SPDX-License-Identifier: MIT
#include "papers/step_alignment.hpp"

#include <random>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;
using namespace specdec::papers;

namespace step_alignment_tests {

constexpr std::size_t width = 4;

/// Chains of `steps` cells from each of `places` places on, in the order of steps.
struct chains {
    std::vector<made_feature> cells;
    std::vector<float> states, wanted;

    chains(std::size_t places, std::size_t steps) {
        for (std::size_t s = 0; s < steps; ++s)
            for (std::size_t i = 0; i + s < places; ++i)
                cells.push_back({i + s, s});
        std::mt19937 random(7);
        std::normal_distribution<float> normal;
        for (auto* values : {&states, &wanted}) {
            values->resize((values == &states ? cells.size() : places) * width);
            for (float& x : *values)
                x = normal(random);
        }
    }
    [[nodiscard]] std::span<const float> wanted_at(std::size_t position) const {
        return std::span(wanted).subspan(position * width, width);
    }
    [[nodiscard]] double loss(std::span<float> dstates, std::size_t most = 100) const {
        step_alignment csra(width, most, 1);
        return csra(
            cells, states, [this](std::size_t p) { return wanted_at(p); }, dstates, 0.3, 0.2);
    }
};

TEST_CASE("alignment of steps is the mean of each step's loss with the steps before it") {
    chains three(6, 3);
    std::vector<float> gradient(three.states.size());
    const double found = three.loss(gradient);
    double sum = 0;
    for (std::size_t t = 1; t <= 3; ++t) { // at positions t - 1 .. 5
        std::vector<float> views;
        for (std::size_t s = 0; s <= t; ++s)
            for (std::size_t p = t - 1; p < 6; ++p) {
                std::span<const float> feature = three.wanted_at(p);
                for (std::size_t c = 0; s < t && c < three.cells.size(); ++c)
                    if (three.cells[c].step == s && three.cells[c].position == p)
                        feature = std::span(three.states).subspan(c * width, width);
                views.insert(views.end(), feature.begin(), feature.end());
            }
        std::vector<float> unused(views.size() * t / (t + 1));
        sum += alignment_loss(views, 7 - t, width, unused, 0.3, 0.2) / 3;
    }
    CHECK(found == Approx(sum).epsilon(1e-6)); // in another order
    for (std::size_t k = 0; k < gradient.size(); ++k) {
        std::vector<float> unused(gradient.size());
        const float here = three.states[k];
        three.states[k] = here + 1e-2F;
        const double above = three.loss(unused);
        three.states[k] = here - 1e-2F;
        const double below = three.loss(unused);
        three.states[k] = here;
        CHECK(static_cast<double>(gradient[k]) == Approx((above - below) / 2e-2).margin(2e-3));
    }
}

TEST_CASE("gradients are added, and only those of the chosen positions") {
    const chains two(9, 2);
    std::vector<float> some(two.states.size(), 1);
    (void)two.loss(some, 3);
    std::size_t changed = 0;
    for (std::size_t c = 0; c < two.cells.size(); ++c)
        changed += some[c * width] != 1 ? 1U : 0U;
    CHECK(changed >= 6); // 3 of step 2 with theirs of step 1
    CHECK(changed <= 9); // and 3 of step 1
}

TEST_CASE("an alignment of steps that do not fit is refused") {
    const chains two(4, 2);
    step_alignment csra(width, 3, 1);
    std::vector<float> gradient(two.states.size() - 1);
    const auto wanted = [&](std::size_t p) { return two.wanted_at(p); };
    CHECK_THROWS_WITH(csra(two.cells, two.states, wanted, gradient), Catch::Contains("sizes"));
    CHECK_THROWS_WITH(step_alignment(0, 3, 1), Catch::Contains("sizes"));
}

} // namespace step_alignment_tests
