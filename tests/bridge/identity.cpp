// SPDX-License-Identifier: MIT
#include <specdec/bridge/identity.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "support/script_drafter.hpp"

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("an identity map knows the ids that both sides have") {
    for (const auto& [draft, target] :
         {std::pair<std::size_t, std::size_t>{5, 3}, {3, 5}, {4, 4}}) {
        const identity_map map(draft, target);
        CHECK(map.draft_size() == draft);
        CHECK(map.target_size() == target);
        CHECK(map.shared() == std::min(draft, target));
        for (std::int32_t i = 0; i < 6; ++i) {
            const bool both = static_cast<std::size_t>(i) < map.shared();
            CHECK(map.to_target(draft_id{i}) == (both ? target_id{i} : target_id{}));
            CHECK(map.to_draft(target_id{i}) == (both ? draft_id{i} : draft_id{}));
            CHECK_FALSE(map.next_duplicate(draft_id{i}).valid());
        }
        CHECK_FALSE(map.to_target(draft_id{}).valid());
        CHECK_FALSE(map.to_draft(target_id{}).valid());
    }
}

TEST_CASE("the drafter's padding is never drawn, its own best comes next") {
    identity_bridge bridge = make_identity_bridge(5, 4, 64, 3);
    bridge.start({});
    bridge.follow(std::vector{target_id{2}, target_id{1}});
    script_drafter drafter(5, {draft_id{3}, draft_id{4}, draft_id{2}}); // 4: only the drafter's
    philox_coin coin(1);
    const auto draft =
        bridge.propose(drafter, fixed_length{}, coin, {2, 8, {.temperature = 0}, {}});
    CHECK(tokens_of(draft) == std::vector{target_id{3}, target_id{0}, target_id{2}});
    CHECK(copy_of(draft.draft_tokens) == std::vector{draft_id{3}, draft_id{0}, draft_id{2}});
    CHECK(drafter.context == std::vector{draft_id{2}, draft_id{1}});
}
