// SPDX-License-Identifier: MIT
#include <specdec/draft/draft_cost.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

namespace {

/// A machine whose pass over a position takes 2 ms, over each further one 0.1 ms, and whose rounds
/// take 0.3 passes beside it and `draft` passes more a draft token.
void rounds(draft_cost& costs, std::size_t count, std::size_t least, std::size_t most, double draft,
            double hiccup = 0) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t n = least + i % (most - least + 1);
        const auto drafts = static_cast<double>(n);
        const double pass = 1 + 0.05 * drafts;
        const bool interrupted = hiccup > 0 && i % 41 == 40;
        costs.learn(pass, n,
                    {0.002 * pass, 0.002 * (0.3 + draft * drafts) + (interrupted ? hiccup : 0)});
    }
}

} // namespace

TEST_CASE("a draft's cost goes from the measured one to that of the rounds") {
    draft_cost costs(0.16);
    CHECK(costs.now() == 0.16);
    rounds(costs, 4, 0, 4, 0.36);
    CHECK(costs.now() > 0.16);
    rounds(costs, 400, 0, 4, 0.36);
    CHECK(costs.now() == Approx(0.36).epsilon(0.05)); // what every round takes is no draft's
    rounds(costs, 1200, 0, 4, 0.1);
    CHECK(costs.now() == Approx(0.1).epsilon(0.15)); // and back
}

TEST_CASE("where all drafts are of one length, they are held to cost all that rounds take") {
    draft_cost costs(0.1);
    rounds(costs, 1000, 3, 3, 0.2);
    CHECK(costs.now() > 0.2);
    CHECK(costs.now() < 0.31);
}

TEST_CASE("an interrupted round moves a draft's cost little") {
    draft_cost calm(0.2), busy(0.2);
    rounds(calm, 400, 0, 4, 0.2);
    rounds(busy, 400, 0, 4, 0.2, 10.0);
    CHECK(busy.now() < 1.25 * calm.now());
}

TEST_CASE(
    "a draft's cost stays above a quarter of what was measured, and without a clock as it is") {
    draft_cost costs(0.4);
    rounds(costs, 1000, 0, 4, 0.0);
    CHECK(costs.now() == 0.1);
    draft_cost untimed(0.4);
    untimed.learn(1.1, 3, {});
    CHECK(untimed.now() == 0.4);
}
