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

TEST_CASE("lookup turns: a drafter shows what it is worth where a text repeats something always") {
    acceptance_table table;
    lookup_turns turns(table, cpu, cpu);
    const auto weak = found(8, 0.6);
    const auto rounds = [&](std::size_t n,
                            std::size_t drafted) { // of which the drafter has so many
        std::size_t spoke = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (const std::size_t found_now = turns.choose(weak); found_now > 0) {
                turns.learn({.looked_up = true, .proposed = found_now, .committed = 2},
                            {.steps = weak, .kept = 1, .rejected = true});
            } else {
                ++spoke;
                turns.learn({.proposed = 4, .drafted = 4, .committed = drafted},
                            {.steps = weak, .kept = 1, .rejected = true});
            }
        return spoke;
    };
    CHECK(turns.choose(weak) > 0);
    CHECK(rounds(40, 4) > 30); // it gives three, the lookup one
    lookup_turns other(table, cpu, cpu);
    turns = other;
    const std::size_t useless = rounds(200, 1);
    CHECK(useless >= 12);
    CHECK(useless < 20);
}

TEST_CASE("drafter beside: a line through the drafter's rounds, where old ones fade") {
    drafter_beside line;
    CHECK(line.mean(0.5) == 0);
    CHECK(line(2, 0.5) == 1); // nothing is known: half of what was found
    for (int i = 0; i < 400; ++i) {
        const double x = i % 4; // worth 1 + 0.75 x, at a rate of 0.5
        line.count(x, 2 + 0.75 * x, 2);
    }
    CHECK(line.mean(0.5) == Approx(1 + 0.75 * 1.5).margin(0.02));
    CHECK(line(0, 0.5) == Approx(1).margin(0.1));
    CHECK(line(3, 0.5) == Approx(3.25).margin(0.1));
    CHECK(line(3, 0.25) == Approx(3.75).margin(0.1));
    line.scale(2);
    CHECK(line(3, 0.25) == Approx(3.25).margin(0.1));
    for (int i = 0; i < 400; ++i)
        line.count(i % 4, 3 - 0.5 * (i % 4), 0); // worth less where more is found
    CHECK(line(0, 0.5) > line(3, 0.5));
}

TEST_CASE("lookup turns: where more is found the drafter may be worth more, too") {
    acceptance_table table;
    const cost_table cheap{{1, 1.01, 1.02, 1.03, 1.04}, 0.01, 0};
    lookup_turns turns(table, cheap, cheap);
    const auto weak = found(1, 0.5), strong = found(4, 0.95);
    const auto of_lookup = [&](std::size_t n, std::size_t drafted) { // rounds, where much is found
        std::size_t looked_up = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const bool much = i % 2 == 1;
            const draft_outcome outcome{
                .steps = much ? strong : weak, .kept = much ? std::size_t{3} : 0, .rejected = true};
            const std::size_t now = turns.choose(outcome.steps);
            looked_up += much && now > 0 ? 1U : 0U;
            if (now > 0)
                turns.learn({.looked_up = true, .proposed = now, .committed = outcome.kept + 1},
                            outcome);
            else
                turns.learn({.proposed = 4, .drafted = 4, .committed = much ? drafted : 1},
                            outcome);
        }
        return looked_up;
    };
    (void)of_lookup(200, 5);
    CHECK(turns.beside() < 2.5); // less than what was found, but there it gives four
    CHECK(of_lookup(200, 5) < 10);
    (void)of_lookup(200, 1); // no longer
    CHECK(of_lookup(200, 1) > 80);
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

std::vector<draft_progress> forced(std::size_t n) {
    auto steps = found(n, 1);
    for (draft_progress& now : steps)
        now.certainty = token_certainty::forced;
    return steps;
}
/// Rounds in which four tokens are forced, which all come true, and the drafter speaks if it has
/// to.
std::size_t rounds_of_drafter(lookup_turns& turns, std::size_t tokens, std::size_t rounds) {
    std::size_t spoke = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto steps = forced(4);
        const std::size_t n = turns.choose(steps);
        spoke += n == 0 ? 1U : 0U;
        if (n > 0)
            turns.learn({.looked_up = true, .proposed = n, .committed = n + 1},
                        {.steps = steps, .kept = 4});
        else
            turns.learn({.proposed = 4, .drafted = 4, .committed = tokens},
                        {.steps = steps, .kept = tokens < 4 ? tokens : 4});
    }
    return spoke;
}

TEST_CASE("lookup turns: forced text speaks, unless the drafter writes it and more") {
    acceptance_table table;
    lookup_turns turns(table, cpu, cpu);
    CHECK(turns.choose(forced(4)) == 0); // nothing is known of the drafter there
    const std::size_t spoke = rounds_of_drafter(turns, 3, 100);
    CHECK(spoke >= 4); // it is asked again now and then
    CHECK(spoke < 12);
    CHECK(turns.ahead() < 0);
    CHECK(turns.choose(forced(4)) > 0);

    acceptance_table other;
    const cost_table cheap{{1, 1.01, 1.02, 1.03, 1.04}, 0.01, 0};
    lookup_turns longer(other, cheap, cheap);
    CHECK(rounds_of_drafter(longer, 9, 100) == 100);
    CHECK(longer.ahead() > 0);
    CHECK(longer.choose(found(4, 0.98)) == 4); // of other rounds of the drafter nothing is known
}

TEST_CASE("lookup turns: texts share what drafters do where text is forced, or do not") {
    acceptance_table table;
    drafter_ahead shared;
    lookup_turns first(table, cpu, cpu, &shared), second(table, cpu, cpu, &shared),
        alone(table, cpu, cpu);
    (void)rounds_of_drafter(first, 3, 3);
    CHECK(second.choose(forced(4)) > 0);
    CHECK(alone.choose(forced(4)) == 0);
}

TEST_CASE("lookup turns: a found token costs no draft") {
    acceptance_table table;
    const cost_table dear{{1, 1, 1, 1, 1}, 5, 0};
    const lookup_turns turns(table, dear, dear);
    CHECK(turns.choose(found(4, 0.98)) == 4);
}

} // namespace lookup_turns_tests
