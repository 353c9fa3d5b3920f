// SPDX-License-Identifier: MIT
// Texts many times longer than the drafter's context, with a windowed_drafter around the drafter.
#include <specdec/draft/windowed_drafter.hpp>

#include <catch2/catch.hpp>

#include "support/decoding.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace long_texts_tests {

constexpr std::size_t length = 300, draft_capacity = 24, full = 4; // full: no_draft::drafter_full
static_assert(static_cast<std::size_t>(no_draft::drafter_full) == full);

template <class B, class V, Drafter D, class C>
statistics decode(const toy_world& world, B bridge, V rule, D& drafter, C coin) {
    target_text_model target = world.target_model();
    session decoder(std::move(bridge), rule, world.settings(1, world.capacity));
    decoder.start(world.prompt, world.prefix);
    (void)play(decoder, target, drafter, fixed_length{4}, coin, length);
    return decoder.counts();
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
            const statistics best = decode(world, bridge, rule, unlimited, philox_coin(3));
            small_drafter small(world);
            const statistics ended = decode(world, bridge, rule, small.full, philox_coin(3));
            const statistics found =
                decode(world, std::move(bridge), rule, small.drafter, philox_coin(3));
            CHECK(ended.without_draft[full] > 200);
            CHECK(found.without_draft[full] == 0);
            CHECK(small.drafter.dropped() > length - 2 * draft_capacity);
            // The toys look at three letters only: nothing is missed.
            CHECK(found.acceptance_rate() > 0.8 * best.acceptance_rate());
        });
    });
}

} // namespace long_texts_tests
