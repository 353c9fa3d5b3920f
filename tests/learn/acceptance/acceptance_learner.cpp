// SPDX-License-Identifier: MIT
#include <specdec/learn/acceptance/acceptance_learner.hpp>

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace acceptance_learner_tests {

/// Four tokens on a square: an exclusive or, which takes hidden units.
struct square {
    [[nodiscard]] std::span<const float> operator()(draft_id d) const {
        static constexpr float rows[] = {1, 1, 1, -1, -1, 1, -1, -1};
        return std::span(rows).subspan(2 * d.index(), 2);
    }
};

draft_progress at(int token) {
    return {.drafted = 1, .sure = 0.5, .entropy = 1, .token = draft_id{token}};
}

TEST_CASE("a head learns what becomes of which token") {
    std::mt19937 random(7);
    const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
    const acceptance_shape shape{.embedding = 2, .width = 8};
    acceptance_learner learner(shape, uniform, {.rate = 0.02, .usual = 0.7});
    acceptance_head<square> head({}, shape, learner.parameters());
    for (int token = 0; token < 4; ++token) {
        CHECK(head.accept(at(token)) == Approx(0.7));
        CHECK(head.next(at(token)) == Approx(0.7));
    }

    acceptance_examples examples(200);
    for (int i = 0; i < 100; ++i) {
        const int first = i % 4, second = i / 4 % 4; // 0 and 3 are kept; behind 1 nothing is
        const std::vector<draft_progress> steps{at(first), at(second)};
        const bool kept = first == 0 || first == 3;
        examples.add(steps, std::vector<float>{kept ? 1.0F : 0.0F});
    }
    double begin = 0, end = 0;
    for (int i = 0; i < 600; ++i) {
        end = learner.step(
            16, [&](std::size_t) -> const acceptance_example& { return examples.any(uniform); },
            square{});
        begin = i == 0 ? end : begin;
    }
    CHECK(end < begin);
    head.take(learner.parameters());
    head.learn({});
    CHECK(head.accept(at(0)) > 0.9);
    CHECK(head.accept(at(3)) > 0.9);
    CHECK(head.accept(at(1)) < 0.1);
    CHECK(head.accept(at(2)) < 0.1);
    CHECK(std::abs(head.next({}) - 0.5) < 0.15); // half of the first tokens
}

TEST_CASE("settings that are none are refused") {
    const auto uniform = [] { return 0.5; };
    CHECK_THROWS_AS(acceptance_learner({}, uniform, {.rate = 0}), error);
    CHECK_THROWS_AS(acceptance_learner({}, uniform, {.usual = 1}), error);
}

} // namespace acceptance_learner_tests
