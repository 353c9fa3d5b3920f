// SPDX-License-Identifier: MIT
#include <specdec/core/rows.hpp>

#include <concepts>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

using namespace specdec;

static_assert(!std::convertible_to<logits_row<draft_id>, logits_row<target_id>>);
static_assert(!std::convertible_to<logits_rows<draft_id>, logits_rows<target_id>>);
static_assert(!std::convertible_to<logits_row<target_id>, probabilities_row<target_id>>);

TEST_CASE("rows show the logical vocabulary and skip the padding") {
    std::vector<float> buffer;
    for (int row = 0; row < 3; ++row)
        for (const int value : {0, 1, 2, 1000, 1000})
            buffer.push_back(static_cast<float>(value == 1000 ? 1000 : 10 * row + value));
    const logits_rows<target_id> rows(buffer.data(), 3, 3, 5);
    REQUIRE(rows.size() == 3);
    CHECK(rows.vocabulary() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(rows[i].size() == 3);
        for (std::size_t v = 0; v < 3; ++v)
            CHECK(rows[i].values[v] == static_cast<float>(10 * i + v));
    }
}

TEST_CASE("the last rows of some") {
    const float buffer[] = {1, 2, -1, 3, 4, -1, 5, 6, -1};
    const logits_rows<target_id> last = logits_rows<target_id>(buffer, 3, 2, 3).last(2);
    REQUIRE(last.size() == 2);
    CHECK(last[0].values[0] == 3);
    CHECK(last[1].values[1] == 6);
}

TEST_CASE("some rows of many") {
    const float buffer[] = {1, 2, -1, 3, 4, -1, 5, 6, -1};
    const logits_rows<target_id> middle = logits_rows<target_id>(buffer, 3, 2, 3).middle(1, 1);
    REQUIRE(middle.size() == 1);
    CHECK(middle[0].values[0] == 3);
    CHECK(middle.vocabulary() == 2);
}

TEST_CASE("rows without padding, and no rows at all") {
    const float buffer[] = {1, 2, 3, 4};
    const logits_rows<draft_id> rows(buffer, 2, 2, 2);
    CHECK(rows[1].values[0] == 3);
    CHECK(rows[1].values.data() == buffer + 2); // borrowed, not copied
    CHECK(logits_rows<draft_id>().size() == 0);
    CHECK(logits_row<draft_id>().size() == 0);
}

TEST_CASE("rows that cannot lie where they are said to are refused in every build") {
    const float buffer[] = {1, 2, 3, 4};
    CHECK_THROWS_WITH(logits_rows<draft_id>(buffer, 2, 2, 1),
                      "rows: stride: expected at least the vocabulary");
    CHECK_THROWS_WITH(logits_rows<draft_id>(nullptr, 1, 2, 2),
                      "rows: data: expected numbers, found a null pointer");
    CHECK(logits_rows<draft_id>(buffer, 1, 2, 0)[0].size() == 2); // a row alone has no next one
}

TEST_CASE("whether a row leaves anything to draw") {
    constexpr float forbidden = -std::numeric_limits<float>::infinity();
    const float some[] = {forbidden, -1000, forbidden};
    const float broken[] = {forbidden, std::numeric_limits<float>::quiet_NaN()};
    CHECK(any_allowed(broken)); // to be refused where its law is made
    const float none[] = {forbidden, forbidden};
    CHECK(any_allowed(some));
    CHECK_FALSE(any_allowed(none));
    CHECK_FALSE(any_allowed({}));
}
