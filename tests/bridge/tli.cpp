// SPDX-License-Identifier: MIT
#include <specdec/bridge/tli.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "support/script_drafter.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

// What is borrowed has a name: a temporary would be gone before use.
static_assert(std::is_constructible_v<tli_map, const id_map&>);
static_assert(!std::is_constructible_v<tli_map, id_map>);

TEST_CASE("the drafter's own tokens are never drawn: q is renormalised over the intersection") {
    const toy_pair two;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        words_tli bridge = two.tli(3);
        bridge.start(std::vector{toy_pair::bos});
        script_drafter drafter(10, {draft_id{3}, draft_id{8}, draft_id{0}}); // ba, ca, <bos>
        philox_coin coin(seed);
        const auto draft = bridge.propose(drafter, fixed_length{}, coin, {0, 8, {}, {}});
        REQUIRE(draft.proposals.size() == 3);
        for (const auto& x : draft.proposals) {
            REQUIRE(x.token().valid());
            // Seven shared draft ids of equal logits, two of them a.
            REQUIRE(x.probability() ==
                    Approx(x.token() == target_id{1} ? 2 / 7.0 : 1 / 7.0).epsilon(1e-5));
        }
    }
}

TEST_CASE("top-k looks at the restricted row") {
    const toy_pair two;
    words_tli bridge = two.tli(1);
    bridge.start(std::vector{toy_pair::bos});
    script_drafter drafter(10, {draft_id{3}});
    philox_coin coin(5);
    const auto draft = bridge.propose(drafter, fixed_length{}, coin, {0, 8, {.top_k = 1}, {}});
    REQUIRE(draft.proposals.size() == 1); // not nothing, although ba alone would be left
    CHECK(draft.proposals[0].token().valid());
}

TEST_CASE("of two draft ids of one target id the canonical one is reported and pushed") {
    const toy_pair two;
    words_tli bridge = two.tli(2);
    bridge.start(std::vector{toy_pair::bos});
    script_drafter drafter(10, {draft_id{9}, draft_id{5}}); // the second a
    philox_coin coin(5);
    const auto draft =
        bridge.propose(drafter, fixed_length{}, coin, {0, 8, {.temperature = 0}, {}});
    CHECK(tokens_of(draft) == std::vector{target_id{1}, target_id{2}});
    CHECK(draft.draft_tokens[0] == draft_id{1});
    CHECK(drafter.pushed[0] == draft_id{1});
}
