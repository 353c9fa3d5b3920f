// SPDX-License-Identifier: MIT
#include <specdec/draft/cost_table.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("costs in between and beyond lie on lines") {
    const cost_table costs{.pass = {1, 2, 2.5}};
    CHECK(costs.pass_over(1) == 1);
    CHECK(costs.pass_over(1.5) == 1.5);
    CHECK(costs.pass_over(3) == 2.5);
    CHECK(costs.pass_over(5) == 3.5);
    CHECK(cost_table{.pass = {2}}.pass_over(7) == 2);
    CHECK(cost_table{.draft = 2, .start = 1}.draft_of(3) == 7);
    CHECK(cost_table{.draft = 2, .start = 1}.draft_of(0) == 0);
}

TEST_CASE("a text answers for its share of a pass and for what its draft adds") {
    const cost_table costs{.pass = {1, 1.2, 1.4, 1.6, 2.6, 3.6}};
    CHECK(costs.part_of_pass(1, 2, 2) == Approx(0.6));
    CHECK(costs.part_of_pass(1, 5, 2) == Approx(0.6)); // the other's draft
    CHECK(costs.part_of_pass(4, 5, 2) == Approx(2));
    CHECK(costs.part_of_pass(2, 5, 2) + costs.part_of_pass(3, 5, 2) == Approx(2.6));
    CHECK(costs.part_of_pass(3, 3, 1) == Approx(1.4));
    CHECK(costs.part_of_pass(1, 2, 3) == Approx(1.4 / 3)); // one of them waits for its prompt
}

TEST_CASE("a table that cannot be is refused by its entry") {
    using Catch::Contains;
    CHECK_NOTHROW(validate(cost_table{.pass = {1, 1, 1.5}, .draft = 0.2}));
    CHECK_THROWS_WITH(validate(cost_table{.pass = {}}), Contains("pass"));
    CHECK_THROWS_WITH(validate(cost_table{.pass = {0}}), Contains("pass over 1"));
    CHECK_THROWS_WITH(validate(cost_table{.pass = {1, 0.9}}), Contains("pass over 2"));
    CHECK_THROWS_WITH(validate(cost_table{.pass = {1, __builtin_inf()}}), Contains("pass over 2"));
    CHECK_THROWS_WITH(validate(cost_table{.draft = -1}), Contains("draft"));
    CHECK_THROWS_WITH(validate(cost_table{.replay = -1}), Contains("replay"));
    CHECK_THROWS_WITH(validate(cost_table{.catch_up = __builtin_nan("")}), Contains("catch_up"));
    CHECK_THROWS_WITH(validate(cost_table{.catch_up = -1}), Contains("catch_up"));
    CHECK_THROWS_WITH(validate(cost_table{.start = -1}), Contains("start"));
}
