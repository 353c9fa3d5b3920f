// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/lookup_turns.hpp>

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace lookup_turns_tests {

std::vector<draft_progress> found(std::size_t n, double sure) {
    std::vector<draft_progress> out;
    for (std::size_t i = 1; i <= n; ++i)
        out.push_back({.drafted = i, .sure = sure});
    return out;
}

const cost_table cpu{{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8}, 0.2, 0};

/// Rounds of the drafter: 4 draws, so many tokens.
void drafter_gives(lookup_turns& turns, std::size_t tokens, std::size_t rounds) {
    for (std::size_t i = 0; i < rounds; ++i)
        turns.learn({.proposed = 4, .drafted = 4, .committed = tokens}, {});
}

TEST_CASE("lookup turns: a lookup that is worth more than the drafter's rounds speaks") {
    acceptance_table table;
    lookup_turns turns(table, cpu, cpu);
    CHECK(turns.choose({}) == 0);
    CHECK(turns.choose(found(8, 0.98)) > 2);
    CHECK(turns.choose(found(8, 0.3)) > 0); // the drafter has shown nothing yet
    drafter_gives(turns, 4, 60);            // of 5 at most
    CHECK(turns.beside() > 0);
    CHECK(turns.beside() < 3);                      // a round's tokens but one, less what they cost
    CHECK(turns.choose(found(1, 0.98)) == 0);       // one token at most: the drafter gives three
    CHECK(turns.choose(found(8, 0.3)) == 0);        // few of eight
    CHECK(turns.choose_alone(found(1, 0.98)) == 1); // where it proposes nothing
    drafter_gives(turns, 1, 200);                   // it has become useless
    CHECK(turns.beside() < 0);
    CHECK(turns.choose(found(1, 0.98)) == 1);
}

TEST_CASE("lookup turns: each side learns its own") {
    acceptance_table table;
    lookup_turns turns(table, cpu, cpu);
    drafter_gives(turns, 3, 40);
    const double beside = turns.beside();
    const auto some = found(8, 0.98);
    const std::size_t before = turns.choose(some);
    REQUIRE(before > 0);
    // Rounds of the lookup that keep nothing teach its table, and leave the drafter's mean.
    for (int i = 0; i < 100; ++i)
        turns.learn({.looked_up = true, .proposed = 8, .committed = 1},
                    {.steps = some, .kept = 0, .rejected = true});
    CHECK(turns.choose(some) == 0);
    CHECK(turns.beside() > beside); // at a lower rate its costs count for less
    // What would have been kept in the drafter's rounds teaches the table, too.
    for (int i = 0; i < 300; ++i)
        turns.learn({.proposed = 4, .drafted = 4, .committed = 3},
                    {.steps = some, .kept = 3, .rejected = false});
    CHECK(table.accept(some[0]) > 0.9);
}

TEST_CASE("lookup turns: a found token costs no draft") {
    acceptance_table table;
    const cost_table dear{{1, 1, 1, 1, 1}, 5, 0};
    const lookup_turns turns(table, dear, dear);
    CHECK(turns.choose(found(4, 0.98)) == 4);
}

} // namespace lookup_turns_tests
