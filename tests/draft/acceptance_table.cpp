// SPDX-License-Identifier: MIT
#include <specdec/draft/acceptance_table.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace {

std::vector<draft_progress> draft(const std::vector<double>& sure) {
    std::vector<draft_progress> steps;
    for (const double s : sure)
        steps.push_back({.drafted = steps.size() + 1, .last = s, .sure = s});
    return steps;
}

} // namespace

TEST_CASE("before anything is learnt, surer tokens are expected to be kept more often") {
    const acceptance_table table;
    double last = 0;
    for (const double sure : {0.01, 0.04, 0.3, 0.7, 0.95, 0.99}) {
        const double now = table.accept({.drafted = 1, .sure = sure});
        CHECK(now > last);
        CHECK(now < 1);
        last = now;
    }
}

TEST_CASE("what was kept is learnt by sureness; what was not decided says nothing") {
    acceptance_table table;
    const auto likely = draft({0.9}), unlikely = draft({0.3});
    for (int i = 0; i < 400; ++i) {
        table.learn({.steps = likely, .kept = i % 4 == 0 ? 0U : 1U, .rejected = i % 4 == 0});
        table.learn({.steps = unlikely, .kept = i % 4 == 0 ? 1U : 0U, .rejected = i % 4 != 0});
    }
    CHECK(table.accept(likely[0]) == Approx(0.75).margin(0.04));
    CHECK(table.accept(unlikely[0]) == Approx(0.25).margin(0.04));
    CHECK(table.next({}) == Approx(0.5).margin(0.06));

    const acceptance_table before = table;
    table.learn({.steps = likely, .kept = 0, .rejected = false}); // the text was cut
    table.learn({.emitted = 1});                                  // a plain round
    CHECK(table.version() == before.version());
    CHECK(table.accept(likely[0]) == before.accept(likely[0]));
    CHECK(table.next({}) == before.next({}));
}

TEST_CASE("forced tokens are learnt apart from others, and those at their end from them") {
    acceptance_table table;
    const auto step = [](double sure, token_certainty certainty) {
        return std::vector<draft_progress>{{.drafted = 1, .sure = sure, .certainty = certainty}};
    };
    const auto guessed = step(1, token_certainty::guessed),
               forced = step(1, token_certainty::forced),
               end = step(1, token_certainty::forced_end);
    CHECK(table.accept(forced[0]) > table.accept(guessed[0]));
    CHECK(table.accept(end[0]) < table.accept(guessed[0]));
    const double before = table.accept(guessed[0]);
    for (int i = 0; i < 200; ++i) {
        table.learn({.steps = forced, .kept = 1});
        table.learn({.steps = end, .kept = 0, .rejected = true});
    }
    CHECK(table.accept(guessed[0]) == before);
    CHECK(table.accept(forced[0]) > 0.98);
    CHECK(table.accept(end[0]) < 0.05);
    for (int i = 0; i < 200; ++i)
        table.learn({.steps = guessed, .kept = 0, .rejected = true});
    CHECK(table.accept(guessed[0]) < 0.1);
    CHECK(table.accept(forced[0]) > 0.98);
}

TEST_CASE("the token behind a sure one is expected by what was seen behind sure ones") {
    acceptance_table table;
    const auto easy = draft({0.99, 0.6}), hard = draft({0.3, 0.6});
    for (int i = 0; i < 200; ++i) {
        table.learn({.steps = easy, .kept = 2});
        table.learn({.steps = hard, .kept = 1, .rejected = true});
    }
    CHECK(table.next(easy[0]) > 0.9);
    CHECK(table.next(hard[0]) < 0.1);
}

TEST_CASE("a token's place counts: the first, the second, and those behind them as one") {
    acceptance_table table;
    const auto steps = draft({0.9, 0.9, 0.9, 0.9});
    for (int i = 0; i < 400; ++i)
        table.learn({.steps = steps, .kept = 3, .rejected = true});
    CHECK(table.accept({.drafted = 2, .sure = 0.9}) > 0.9);
    CHECK(table.accept({.drafted = 3, .sure = 0.9}) == Approx(0.5).margin(0.1));
    CHECK(table.next({.drafted = 2, .sure = 0.9}) > 0.9);
    CHECK(table.next({.drafted = 3, .sure = 0.9}) < 0.1);
    for (const std::size_t place : {4U, 9U})
        CHECK(table.accept({.drafted = place, .sure = 0.9}) ==
              table.accept({.drafted = 3, .sure = 0.9}));
}

TEST_CASE("what a draft's first token was expected to do is forgotten where it does not") {
    acceptance_table table;
    const auto step = draft({0.9});
    CHECK(table.next({}) > 0.5);
    for (int i = 0; i < 400; ++i)
        table.learn({.steps = step, .kept = 0, .rejected = true});
    CHECK(table.next({}) < 0.01);
}

TEST_CASE("old rounds fade") {
    acceptance_table table;
    const auto step = draft({0.9});
    for (int i = 0; i < 5000; ++i)
        table.learn({.steps = step, .kept = 1});
    for (int i = 0; i < 600; ++i)
        table.learn({.steps = step, .kept = 0, .rejected = true});
    CHECK(table.accept(step[0]) < 0.1);
}
