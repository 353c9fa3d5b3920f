// SPDX-License-Identifier: MIT
#include <specdec/head/exits/exit_table.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("thresholds for each target") {
    exit_table table(exit_thresholds::fixed(2));
    table.set("small", exit_thresholds::fixed(0));
    table.set("large", exit_thresholds({0.9, 0.8}));
    CHECK(table.of("large")[1] == 0.8);
    CHECK(table.of("small") == exit_thresholds());
    CHECK(table.of("another") == exit_thresholds::fixed(2));
    table.set("large", exit_thresholds({0.7}));
    CHECK(table.of("large") == exit_thresholds({0.7}));
}
