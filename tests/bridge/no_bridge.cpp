// SPDX-License-Identifier: MIT
#include <specdec/bridge/no_bridge.hpp>

#include <catch2/catch.hpp>

#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

using namespace specdec;

TEST_CASE("no bridge proposes nothing and says why") {
    no_bridge bridge;
    no_drafter drafter;
    philox_coin coin(1);
    bridge.start({});
    bridge.follow({});
    const auto draft = bridge.propose(drafter, fixed_length{}, coin, {0, 8, {}, {}});
    CHECK(draft.proposals.empty());
    CHECK(draft.draft_tokens.empty());
    CHECK(draft.reason == no_draft::no_drafter);
}
