// SPDX-License-Identifier: MIT
#include <specdec/head/token_list.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("a token list holds ascending ids of its vocabulary") {
    const token_list<draft_id> list({draft_id{1}, draft_id{4}, draft_id{5}}, 6);
    CHECK(list.size() == 3);
    CHECK(list.vocabulary_size() == 6);
    for (int v = 0; v < 6; ++v)
        CHECK(list.contains(draft_id{v}) == (v == 1 || v >= 4));
    CHECK_FALSE(list.contains(draft_id{}));
    const token_list<draft_id> all = every_token<draft_id>(3);
    CHECK(all == token_list<draft_id>({draft_id{0}, draft_id{1}, draft_id{2}}, 3));
}

TEST_CASE("a token list that is none is refused by name") {
    using Catch::Contains;
    const auto make = [](std::vector<draft_id> ids) {
        return token_list<draft_id>(std::move(ids), 6, "kept.json");
    };
    CHECK_THROWS_WITH(make({}), Contains("kept.json: ids"));
    CHECK_THROWS_WITH(make({draft_id{2}, draft_id{2}}), Contains("id 2") && Contains("ascend"));
    CHECK_THROWS_WITH(make({draft_id{3}, draft_id{2}}), Contains("id 2"));
    CHECK_THROWS_WITH(make({draft_id{6}}), Contains("id 6") && Contains("6 - 1"));
    CHECK_THROWS_WITH(make({draft_id{-1}}), Contains("id -1"));
}
