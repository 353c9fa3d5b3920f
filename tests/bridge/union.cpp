// SPDX-License-Identifier: MIT
#include <specdec/bridge/union.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "support/script_drafter.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("a token outside T is proposed as no token and ends the draft") {
    const toy_pair two;
    words_union bridge = two.union_of(4);
    bridge.start(std::vector{toy_pair::bos});
    script_drafter drafter(10, {draft_id{1}, draft_id{3}, draft_id{5}}); // a, ba, b
    philox_coin coin(5);
    const auto draft =
        bridge.propose(drafter, fixed_length{}, coin, {0, 8, {.temperature = 0}, {}});
    CHECK(draft.reason == no_draft::none);
    CHECK(tokens_of(draft) == std::vector{target_id{1}, target_id{}});
    CHECK(draft.draft_tokens.size() == 2);
    CHECK(drafter.rows == 2);
    CHECK(drafter.pushed.size() == 1); // what nobody can accept is not fed
}
