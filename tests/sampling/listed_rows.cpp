// SPDX-License-Identifier: MIT
#include <specdec/sampling/listed_rows.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/rows.hpp>

using namespace specdec;

static_assert(RowsOf<listed_rows<target_id>, target_id>);
static_assert(!RowsOf<listed_rows<target_id>, draft_id>);

TEST_CASE("lists have the entries that were counted") {
    const std::vector<weighted_id<target_id>> entries{
        {target_id{1}, 0.5F}, {target_id{4}, 0.5F}, {target_id{2}, 1}, {}, {target_id{0}, 1}, {}};
    const std::size_t counts[] = {2, 1, 1};
    const listed_rows<target_id> rows(entries.data(), 2, 5, counts);
    REQUIRE(rows.size() == 3);
    CHECK(rows.vocabulary() == 5);
    CHECK(rows[0].entries.size() == 2);
    CHECK(rows[0].entries[1].id == target_id{4});
    CHECK(rows[1].entries.size() == 1);
    CHECK(rows[1].vocabulary == 5);
    const listed_rows<target_id> last = rows.middle(2, 1);
    REQUIRE(last.size() == 1);
    CHECK(last[0].entries[0].id == target_id{0});
    CHECK(listed_rows<target_id>().size() == 0);
}

TEST_CASE("more entries than there is room for are refused") {
    const std::size_t counts[] = {3};
    CHECK_THROWS_WITH(
        (listed_rows<target_id>(nullptr, 2, 5, counts)),
        "listed rows: counts: expected at most the stride of 2 entries a row, found 3");
}
