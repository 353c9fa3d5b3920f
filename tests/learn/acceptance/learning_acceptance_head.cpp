// SPDX-License-Identifier: MIT
#include <specdec/learn/acceptance/learning_acceptance_head.hpp>

#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/predicted_end.hpp>
#include <specdec/draft/profitable_length.hpp>

using namespace specdec;

namespace learning_acceptance_head_tests {

struct two_tokens {
    [[nodiscard]] std::span<const float> operator()(draft_id d) const {
        static constexpr float rows[] = {1, 1, 1, -1};
        return std::span(rows).subspan(2 * d.index(), 2);
    }
};
struct bits {
    std::mt19937 random{7};
    double operator()() { return static_cast<double>(random()) / 4294967296.0; }
};
using head_type = learning_acceptance_head<two_tokens, bits>;
static_assert(AcceptancePredictor<head_type>);
static_assert(LearnsLengths<predicted_end<head_type>>);
static_assert(LearnsLengths<profitable_length<head_type>>);

constexpr acceptance_shape shape{.embedding = 2, .width = 4};

draft_progress at(int token, std::size_t n = 1) {
    return {.drafted = n, .sure = 0.5, .entropy = 1, .token = draft_id{token}};
}

/// Token 0 is always kept, token 1 never.
void teach(head_type& head, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        const int token = i % 2;
        const std::vector<draft_progress> steps{at(token), at(0, 2)};
        head.learn({.steps = steps, .kept = token == 0 ? 2U : 0U, .rejected = token == 1});
    }
}

TEST_CASE("a head learns from the drafts that it ends, joint or interleaved") {
    for (const std::size_t interleaved : {0U, 8U}) {
        head_type head(
            {}, shape, {},
            {.interleaved = interleaved, .batch = 16, .learner = {.rate = 0.02, .usual = 0.7}});
        CHECK(head.update() == 0); // nothing yet
        CHECK(head.accept(at(0)) == Approx(0.7));
        const int updates = interleaved == 0 ? 200 : 40;
        double first = 0, last = 0;
        for (int i = 0; i < updates; ++i) {
            teach(head, 8);
            last = head.update();
            first = i == 0 ? last : first;
        }
        CHECK(last < first);
        head.learn({}); // new predictions come where a round ends
        CHECK(head.accept(at(0)) > 0.9);
        CHECK(head.accept(at(1)) < 0.1);
        // A round of two kept tokens gives four examples, one rejected at once two.
        CHECK(head.examples().added() == static_cast<std::size_t>(updates) * (4 * 4 + 4 * 2));
        if (interleaved > 0)
            continue; // joint: the new examples alone, which say the contrary of all others
        const std::vector<draft_progress> lost{at(0)};
        head.learn({.steps = lost, .kept = 0, .rejected = true});
        CHECK(head.update() > 1);
    }
}

TEST_CASE(
    "an update changes nothing until a round ends; joint, what was learnt is not learnt again") {
    head_type head({}, shape, {}, {.learner = {.rate = 0.02}});
    teach(head, 2);
    const double before = head.accept(at(1));
    CHECK(head.update() > 0);
    CHECK(head.accept(at(1)) == before);
    head.learn({});
    const double after = head.accept(at(1));
    CHECK(after != before);
    CHECK(head.update() == 0); // no new examples
    head.learn({});
    CHECK(head.accept(at(1)) == after);
}

TEST_CASE("labels that are computed again come with each step: rounds leave none") {
    head_type head({}, shape, {}, {.labels_again = true, .learner = {.rate = 0.02}});
    teach(head, 8);
    CHECK(head.examples().size() == 0);
    CHECK(head.update() == 0);
    acceptance_examples batch(8);
    CHECK(head.step(batch) == 0);
    const std::vector<draft_progress> first{at(0)}, second{at(1)};
    batch.add(first, std::vector<float>{0.8F});
    batch.add(second, std::vector<float>{0.25F});
    const double before = head.accept(at(1)), loss = head.step(batch);
    CHECK(head.accept(at(1)) == before); // until the round ends
    for (int i = 0; i < 400; ++i)
        (void)head.step(batch);
    head.learn({});
    CHECK(head.step(batch) < loss);
    CHECK(head.accept(at(0)) == Approx(0.8).margin(0.02)); // the ratios, not what came of a draw
    CHECK(head.accept(at(1)) == Approx(0.25).margin(0.02));
    batch.clear();
    CHECK(batch.size() == 0);
}

TEST_CASE("examples that left are not learnt, and settings are checked") {
    head_type head({}, shape, {}, {.remembered = 6});
    teach(head, 20);
    CHECK(head.examples().size() == 6);
    CHECK(head.update() > 0);
    CHECK_THROWS_AS(head_type({}, shape, {}, {.interleaved = 1, .batch = 0}), error);
    CHECK_THROWS_AS(head_type({}, shape, {}, {.remembered = 0}), error);
}

} // namespace learning_acceptance_head_tests
