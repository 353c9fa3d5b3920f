// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/lookup_length.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace lookup_length_tests {

std::vector<draft_progress> steps(std::size_t n, double sure) {
    std::vector<draft_progress> out;
    for (std::size_t i = 1; i <= n; ++i)
        out.push_back({.drafted = i, .sure = sure});
    return out;
}

/// Rounds in which so many of eight found tokens would have been kept; what is proposed then.
std::size_t proposed_after(lookup_length& length, double sure, std::size_t kept,
                           std::size_t rounds) {
    const auto found = steps(8, sure);
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t n = length.choose(found);
        const std::size_t emitted = 1 + (kept < n ? kept : n);
        length.learn(
            n, emitted,
            {.steps = found, .kept = kept < emitted ? kept : emitted, .rejected = kept < emitted});
    }
    return length.choose(found);
}

const cost_table cpu{{1, 1.15, 1.3, 1.45, 1.6, 1.75, 1.9, 2.05, 2.2}, 0, 0};

TEST_CASE("lookup length: all that comes true, nothing of what does not") {
    acceptance_table table;
    lookup_length length(table, cpu);
    CHECK(length.choose({}) == 0);
    CHECK(length.choose(steps(8, 0.95)) > 2); // a first guess
    CHECK(length.choose(steps(8, 0.01)) == 0);
    CHECK(proposed_after(length, 0.95, 8, 60) == 8);
    CHECK(length.rate() > 1.5);
    CHECK(proposed_after(length, 0.95, 0, 400) == 0);
    CHECK(length.rate() < 1.5);
    CHECK(length.rate() >= 1);
}

TEST_CASE("lookup length: what was not proposed teaches, too") {
    acceptance_table table;
    lookup_length length(table, cpu);
    REQUIRE(proposed_after(length, 0.6, 0, 100) == 0);
    for (int i = 0; i < 100; ++i) { // nothing is proposed, and the text says it all the same
        const auto found = steps(8, 0.6);
        length.learn(length.choose(found), 1, {.steps = found, .kept = 1, .rejected = false});
    }
    CHECK(length.choose(steps(8, 0.6)) > 0);
}

TEST_CASE("lookup length: dear positions, and passes that texts share, make drafts shorter") {
    acceptance_table table;
    const cost_table free_of_cost{{1, 1}, 0, 0}, dear{{1, 1.9}, 0, 0};
    CHECK(lookup_length(table, free_of_cost).choose(steps(8, 0.3)) == 8);
    CHECK(lookup_length(table, dear).choose(steps(8, 0.9)) == 0);
    lookup_length batched(table, cpu);
    CHECK(batched.spent(2) == Approx(1.3));
    batched.share_pass(2);
    CHECK(batched.spent(1) == Approx(1.45 / 2));
    const cost_table level{{1, 1.05, 1.1, 1.15, 2.0, 3.0}, 0, 0};
    lookup_length together(table, level), one(table, level);
    together.share_pass(4);
    CHECK(together.choose(steps(8, 0.7)) < one.choose(steps(8, 0.7)));
}

TEST_CASE("lookup length: tokens behind a doubtful one are seldom worth it") {
    acceptance_table table;
    lookup_length length(table, cpu);
    (void)proposed_after(length, 0.95, 8, 30);
    std::vector<draft_progress> found = steps(8, 0.95);
    REQUIRE(length.choose(found) == 8);
    found[3].sure = 0.03;
    CHECK(length.choose(found) == 3);
}

} // namespace lookup_length_tests
