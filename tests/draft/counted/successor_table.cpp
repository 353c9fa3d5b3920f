// SPDX-License-Identifier: MIT
#include <specdec/draft/counted/successor_table.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;
using Catch::Contains;

namespace successor_table_tests {

std::vector<int> ids_of(const successor_table& table, int t) {
    std::vector<int> out;
    for (const auto& s : table.of(target_id{t}))
        out.push_back(s.id.value);
    return out;
}

TEST_CASE("successor table: the likeliest of the last row behind a token") {
    successor_table table(5, 3);
    CHECK(ids_of(table, 2).empty());
    const std::vector<float> row{1, 4, 0, 3, 2}, other{9, 0, 0, 0, 8};
    table.learn(target_id{2}, {row});
    CHECK(ids_of(table, 2) == std::vector{1, 3, 4});
    CHECK(ids_of(table, 1).empty());
    const auto found = table.of(target_id{2});
    CHECK(found[0].share > found[1].share);
    CHECK(static_cast<double>(found[0].share + found[1].share + found[2].share) == Approx(1));
    CHECK(static_cast<double>(found[0].share / found[1].share) == Approx(2.71828).epsilon(1e-3));
    table.learn(target_id{2}, {other});
    CHECK(ids_of(table, 2) == std::vector{0, 4, 1});
}

TEST_CASE("successor table: rows with few tokens, and what is of another vocabulary") {
    successor_table table(3, 3);
    const float never = -__builtin_inff();
    const std::vector<float> one{never, 2, never}, none(3, never), longer(4);
    const std::vector<successor_table::successor> four(4);
    table.learn(target_id{0}, {one});
    CHECK(ids_of(table, 0) == std::vector{1});
    table.learn(target_id{0}, {none});
    CHECK(ids_of(table, 0).empty());
    table.learn(target_id{0}, {longer});
    table.learn(target_id{0}, four);
    table.learn(target_id{7}, {one});
    table.learn(target_id{}, {one});
    CHECK(ids_of(table, 0).empty());
    CHECK(table.of(target_id{7}).empty());
    CHECK(table.of(target_id{}).empty());
}

TEST_CASE("successor table: its memory is bounded, its width checked") {
    const successor_table table(1000, 8);
    CHECK(table.memory() == 1000 * (8 * 8 + 1));
    CHECK_THROWS_WITH(successor_table(4, 0), Contains("width"));
    CHECK_THROWS_WITH(successor_table(4, 65), Contains("found 65"));
}

} // namespace successor_table_tests
