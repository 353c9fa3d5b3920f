// SPDX-License-Identifier: MIT
#include <specdec/core/token_id.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <catch2/catch.hpp>

using namespace specdec;

// Ids of two vocabularies are two types: no way leads from one to the other, nor from or to a
// number.
static_assert(!std::same_as<target_id, draft_id>);
static_assert(!std::convertible_to<draft_id, target_id>);
static_assert(!std::convertible_to<target_id, draft_id>);
static_assert(!std::constructible_from<target_id, draft_id>);
static_assert(!std::constructible_from<draft_id, target_id>);
static_assert(!std::assignable_from<target_id&, draft_id>);
static_assert(!std::equality_comparable_with<target_id, draft_id>);
static_assert(!std::convertible_to<std::int32_t, target_id>);
static_assert(!std::convertible_to<target_id, std::int32_t>);
static_assert(std::constructible_from<target_id, std::int32_t>);

// An engine's array of ids can be handed over as it is.
static_assert(sizeof(target_id) == sizeof(std::int32_t));
static_assert(alignof(target_id) == alignof(std::int32_t));
static_assert(std::is_trivially_copyable_v<target_id>);
static_assert(std::is_standard_layout_v<target_id>);
static_assert(std::totally_ordered<target_id>);

TEST_CASE("a default id is no token") {
    CHECK_FALSE(target_id{}.valid());
    CHECK(target_id{}.value == -1);
    CHECK(target_id{0}.valid());
    CHECK_FALSE(draft_id{-7}.valid());
}
