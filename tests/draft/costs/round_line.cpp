// SPDX-License-Identifier: MIT
#include <specdec/draft/costs/round_line.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

namespace round_line_tests {

/// Rounds of least to most draft tokens, which take 0.3 passes beside the target's, 0.2 more where
/// something is drafted and `draft` a token.
void rounds(round_line& line, std::size_t count, std::size_t least, std::size_t most, double draft,
            double hiccup = 0) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto n = static_cast<double>(least + i % (most - least + 1));
        const bool interrupted = hiccup > 0 && i % 41 == 40;
        line.learn({.forwards = n},
                   0.3 + (n > 0 ? 0.2 : 0) + draft * n + (interrupted ? hiccup : 0));
    }
}

TEST_CASE("what a draft token takes goes from what was measured to what rounds take, and back") {
    round_line line({.draft = 0.16});
    CHECK(line.forward() == 0.16);
    rounds(line, 4, 0, 4, 0.36);
    CHECK(line.forward() > 0.16);
    rounds(line, 400, 0, 4, 0.36);
    CHECK(line.forward() == Approx(0.36).epsilon(0.05));
    CHECK(line.draft() == Approx(0.2).epsilon(0.4));
    CHECK(line.round() == Approx(0.3).epsilon(0.15));
    rounds(line, 1200, 0, 4, 0.1);
    CHECK(line.forward() == Approx(0.1).epsilon(0.2));
}

TEST_CASE("where all drafts are of one length, their tokens are held to cost most of it") {
    round_line line({.draft = 0.1});
    rounds(line, 20, 0, 0, 0);
    rounds(line, 1000, 3, 3, 0.3);
    CHECK(line.draft() + 3 * line.forward() + line.round() == Approx(1.4).epsilon(0.02));
    CHECK(line.forward() > 0.25);
}

TEST_CASE("what was looked up and what the drafter was fed have costs of their own") {
    round_line line({.draft = 0.1, .catch_up = 0.01});
    for (std::size_t i = 0; i < 400; ++i) {
        const double found = i % 3 == 0 ? 4 : 0, fed = i % 3 == 1 ? static_cast<double>(i % 7) : 0;
        const double drafts = i % 3 == 1 ? static_cast<double>(1 + i % 2) : 0;
        line.learn({drafts, found, fed}, 0.1 + 0.2 * drafts + 0.03 * found + 0.05 * fed);
    }
    CHECK(line.forward() == Approx(0.2).epsilon(0.1));
    CHECK(line.found() == Approx(0.03).epsilon(0.1));
    CHECK(line.fed() == Approx(0.05).epsilon(0.1));
}

TEST_CASE("an interrupted round moves a draft's cost little") {
    round_line calm({.draft = 0.2}), busy({.draft = 0.2});
    rounds(calm, 400, 0, 4, 0.2);
    rounds(busy, 400, 0, 4, 0.2, 5000);
    CHECK(busy.forward() < 1.25 * calm.forward());
    CHECK(busy.forward() > 0.75 * calm.forward());
}

TEST_CASE("a draft's cost stays above a quarter of what was measured and was taken") {
    round_line line({.draft = 0.4});
    for (std::size_t i = 0; i < 1000; ++i) // the same, however many tokens
        line.learn({.forwards = static_cast<double>(i % 5)}, i % 5 > 0 ? 0.4 : 0);
    CHECK(line.forward() >= 0.1 / 4);
    CHECK(line.forward() < 0.1);
    CHECK(line.draft() > 0.25);
    CHECK(line.round() == 0);
    CHECK(line.found() >= 0);
}

TEST_CASE("nothing is below 0, and rounds that took nothing leave nothing") {
    round_line line({.draft = 0.4});
    for (std::size_t i = 0; i < 1000; ++i)
        line.learn({.forwards = static_cast<double>(i % 5)}, 0);
    CHECK(line.forward() >= 0);
    CHECK(line.forward() < 1e-9);
    CHECK(line.draft() == 0);
    CHECK(line.round() == 0);
    CHECK(line.found() >= 0);
}

TEST_CASE("a round that cannot be taken apart still tells what its parts cannot have taken") {
    round_line line({.draft = 4, .catch_up = 0.5});
    line.took_no_longer({.forwards = 2, .fed = 10}, 1);
    CHECK(line.forward() == (4 + 0.5) / 2);
    CHECK(line.fed() == (0.5 + 0.1) / 2);
    line.took_no_longer({.forwards = 2, .fed = 0}, 100);
    CHECK(line.forward() == (4 + 0.5) / 2);
}

} // namespace round_line_tests
