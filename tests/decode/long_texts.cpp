// SPDX-License-Identifier: MIT
// Texts many times longer than the drafter's context, with a windowed_drafter around the drafter.
#include <specdec/draft/windowed_drafter.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/decoding.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace long_texts_tests {

constexpr std::size_t length = 300, draft_capacity = 24, full = 4; // full: no_draft::drafter_full
static_assert(static_cast<std::size_t>(no_draft::drafter_full) == full);

struct decoded {
    std::vector<target_id> text;
    statistics counts;
};

template <class B, class V, Drafter D, class C>
decoded decode(const toy_world& world, B bridge, V rule, D& drafter, C coin,
               float temperature = 1) {
    target_text_model target = world.target_model();
    session decoder(std::move(bridge), rule, world.settings(temperature, world.capacity));
    decoder.start(world.prompt, world.prefix);
    std::vector<target_id> text = play(decoder, target, drafter, fixed_length{4}, coin, length);
    return {std::move(text), decoder.counts()};
}

/// A drafter of a small context.
struct small_drafter {
    draft_text_model model;
    model_drafter<draft_text_model> full{model};
    windowed_drafter<model_drafter<draft_text_model>> drafter{full};

    explicit small_drafter(const toy_world& world)
        : model(world.two.draft.table(), {.seed = 2,
                                          .agreement = world.agreement,
                                          .control = world.control,
                                          .capacity = draft_capacity}) {}
};

TEST_CASE("a drafter whose context is full goes on drafting, by every bridge and rule") {
    toy_world world;
    for_every_rule([&](const char* rule_name, auto rule) {
        for_every_bridge(world, 4, [&](const char* name, auto bridge) {
            CAPTURE(rule_name, name);
            draft_text_model whole = world.draft_model();
            model_drafter unlimited(whole);
            const decoded best = decode(world, bridge, rule, unlimited, philox_coin(3));
            small_drafter small(world);
            const decoded ended = decode(world, bridge, rule, small.full, philox_coin(3));
            const decoded found =
                decode(world, std::move(bridge), rule, small.drafter, philox_coin(3));
            CHECK(ended.counts.without_draft[full] > 200);
            CHECK(found.counts.without_draft[full] == 0);
            CHECK(small.drafter.dropped() > length - 2 * draft_capacity);
            // The toys look at three letters only: nothing is missed.
            CHECK(found.counts.acceptance_rate() > 0.8 * best.counts.acceptance_rate());
        });
    });
}

TEST_CASE("a text longer than the drafter's context is the target's own by exact match") {
    toy_world world;
    for (const float temperature : {0.0F, 1.0F}) {
        no_drafter nobody;
        const std::vector<target_id> alone =
            decode(world, no_bridge{}, exact_match{}, nobody, philox_coin(5), temperature).text;
        for_every_bridge(world, 4, [&](const char* name, auto bridge) {
            CAPTURE(name, temperature);
            small_drafter small(world);
            CHECK(decode(world, std::move(bridge), exact_match{}, small.drafter, philox_coin(5),
                         temperature)
                      .text == alone);
        });
    }
}

TEST_CASE("while a text fits nothing changes") {
    toy_world world;
    for_every_bridge(world, 4, [&](const char* name, auto bridge) {
        CAPTURE(name);
        draft_text_model one = world.draft_model(), other = world.draft_model();
        model_drafter bare(one), inner(other);
        windowed_drafter windowed(inner);
        const decoded a = decode(world, bridge, token_rejection{}, bare, philox_coin(3));
        const decoded b =
            decode(world, std::move(bridge), token_rejection{}, windowed, philox_coin(3));
        CHECK(a.text == b.text);
        CHECK(a.counts.accepted == b.counts.accepted);
        CHECK(windowed.dropped() == 0);
    });
}

} // namespace long_texts_tests
