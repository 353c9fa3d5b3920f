// SPDX-License-Identifier: MIT
// A text does not depend on how it was drafted: greedy text under every rule, seeded text under
// exact match, whatever bridge, draft length and stop rule.
#include <specdec/decode/generate.hpp>

#include <catch2/catch.hpp>

#include "support/decoding.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr std::size_t text_length = 60;

template <class B, class V, class Stop, class C>
std::vector<target_id> decoded(const toy_world& world, B bridge, V rule, const Stop& stop, C coin,
                               float temperature, statistics* counts = nullptr) {
    target_text_model target = world.target_model();
    draft_text_model draft = world.draft_model();
    model_drafter drafter(draft);
    session decoder(std::move(bridge), rule, world.settings(temperature));
    decoder.start(world.prompt, world.prefix);
    auto tokens = play(decoder, target, drafter, stop, coin, text_length);
    if (counts != nullptr)
        *counts = decoder.counts();
    return tokens;
}

} // namespace

TEST_CASE("greedy text is the target's with every bridge, rule and draft length, and none") {
    for (const double agreement : {0.0, 0.6, 1.0}) {
        toy_world world{.agreement = agreement};
        const auto expected = target_alone(world, 0, philox_coin(1), text_length);
        for_every_rule([&](const char* rule_name, auto rule) {
            REQUIRE(decoded(world, no_bridge{}, rule, fixed_length{}, philox_coin(2), 0) ==
                    expected);
            for (const std::size_t gamma : {0U, 1U, 2U, 3U, 5U, 8U})
                for_every_bridge(world, 8, [&](const char* name, auto bridge) {
                    CAPTURE(rule_name, name, gamma, agreement);
                    statistics counts;
                    REQUIRE(decoded(world, bridge, rule, fixed_length{gamma}, philox_coin(gamma), 0,
                                    &counts) == expected);
                    REQUIRE(decoded(world, bridge, rule, confidence{0.3, gamma}, philox_coin(9),
                                    0) == expected);
                    if (gamma > 0)
                        CHECK(counts.proposed > 0);
                    if (gamma > 1 && agreement == 1.0)
                        CHECK(counts.accepted > 10); // it is no dummy
                });
        });
    }
}

TEST_CASE("seeded text under exact match is the target's with every draft and none") {
    const toy_world world;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const philox_coin coin(seed);
        const auto expected = target_alone(world, 1, coin, text_length);
        REQUIRE(decoded(world, no_bridge{}, exact_match{}, fixed_length{}, coin, 1) == expected);
        for (const std::size_t gamma : {0U, 1U, 3U, 8U})
            for_every_bridge(world, 8, [&](const char* name, auto bridge) {
                CAPTURE(name, gamma, seed);
                REQUIRE(decoded(world, bridge, exact_match{}, fixed_length{gamma}, coin, 1) ==
                        expected);
                REQUIRE(decoded(world, bridge, exact_match{}, confidence{0.3, gamma}, coin, 1) ==
                        expected);
            });
    }
}
