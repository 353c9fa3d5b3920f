// SPDX-License-Identifier: MIT
#include <specdec/vocab/table/id_map.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace specdec;

std::vector<std::int32_t> drafts_of(const id_map& map, std::int32_t target) {
    std::vector<std::int32_t> ids;
    for (draft_id d = map.to_draft(target_id{target}); d.valid(); d = map.next_duplicate(d))
        ids.push_back(d.value);
    return ids;
}

TEST_CASE("id_map: both directions, and every draft id of a target id once") {
    const id_map map({2, -1, 0, 2, 2}, {2, -1, 3}, 11, 22);
    CHECK(map.draft_size() == 5);
    CHECK(map.target_size() == 3);
    CHECK(map.shared() == 4);
    CHECK(map.shared_targets() == 2);
    CHECK(map.to_target(draft_id{0}) == target_id{2});
    CHECK_FALSE(map.to_target(draft_id{1}).valid());
    CHECK(map.to_draft(target_id{2}) == draft_id{3});
    CHECK_FALSE(map.to_draft(target_id{1}).valid());
    CHECK(drafts_of(map, 2) ==
          std::vector<std::int32_t>{3, 0, 4}); // canonical first, then ascending
    CHECK(drafts_of(map, 0) == std::vector<std::int32_t>{2});
    CHECK(drafts_of(map, 1).empty());
    CHECK(map.draft_fingerprint() == 11);
    CHECK(map.target_fingerprint() == 22);
    CHECK(map.draft_to_target()[3] == 2);
    CHECK(map.target_to_draft()[1] == -1);
}

TEST_CASE("id_map: ids outside the vocabularies have no counterpart") {
    const id_map map = id_map::identity(3, 3);
    CHECK_FALSE(map.to_target(draft_id{}).valid());
    CHECK_FALSE(map.to_target(draft_id{3}).valid());
    CHECK_FALSE(map.to_draft(target_id{3}).valid());
    CHECK_FALSE(map.next_duplicate(draft_id{3}).valid());
    CHECK_FALSE(id_map{}.to_target(draft_id{0}).valid());
}

TEST_CASE("id_map: equal vocabularies with different padding") {
    const id_map map = id_map::identity(4, 6, 5, 5);
    CHECK(map.shared() == 4);
    CHECK(map.shared_targets() == 4);
    CHECK(map.to_target(draft_id{3}) == target_id{3});
    CHECK(map.to_draft(target_id{3}) == draft_id{3});
    CHECK_FALSE(map.to_draft(target_id{4}).valid());
    CHECK(id_map::identity(6, 4).shared() == 4);
    CHECK_FALSE(id_map::identity(6, 4).to_target(draft_id{4}).valid());
}

TEST_CASE("id_map: tables that contradict each other are refused") {
    using table = std::vector<std::int32_t>;
    CHECK_THROWS_AS(id_map(table{3}, table{0}, 0, 0), error);     // beyond the target vocabulary
    CHECK_THROWS_AS(id_map(table{-2}, table{-1}, 0, 0), error);   // not an id
    CHECK_THROWS_AS(id_map(table{0}, table{1}, 0, 0), error);     // beyond the draft vocabulary
    CHECK_THROWS_AS(id_map(table{0}, table{-1}, 0, 0), error);    // no way back
    CHECK_THROWS_AS(id_map(table{0, -1}, table{1}, 0, 0), error); // the way back leads elsewhere
}

TEST_CASE("restrict_to_shared: minus infinity outside the intersection, padding included") {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const id_map map({0, -1, -1, 1}, {0, 3}, 0, 0);
    const std::vector<float> row{1.5f, 2.0f, std::nanf(""), -inf, inf, 7.0f};
    std::vector<float> out(row.size(), 9.0f);
    map.restrict_to_shared(row, out);
    CHECK(out == std::vector<float>{1.5f, -inf, -inf, -inf, -inf, -inf});
}

} // namespace
