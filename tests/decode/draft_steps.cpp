// SPDX-License-Identifier: MIT
#include <specdec/decode/draft_steps.hpp>

#include <stdexcept>

#include <catch2/catch.hpp>

#include <specdec/decode/session.hpp>

#include "support/decoding.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace draft_steps_tests {

/// Drafts of so many tokens; throws when it is told to, before a token or behind its draw.
struct brittle_length {
    std::size_t length = 4;
    bool throws = false, throws_behind = false;
    [[nodiscard]] bool more(const draft_progress& now) const {
        if (throws)
            throw std::runtime_error("stop rule");
        return now.drafted < length;
    }
    [[nodiscard]] double predict(const draft_progress&) const {
        if (throws_behind)
            throw std::runtime_error("stop rule");
        return 1;
    }
    [[nodiscard]] law_mark mark() const { return 0; }
};

TEST_CASE("of a draft that broke off nothing is proposed, least of all what was before") {
    toy_world world;
    for_every_bridge(world, 4, [&](const char* name, auto bridge) {
        CAPTURE(name);
        begun_text begun(world, std::move(bridge), token_rejection{}, world.settings(0));
        auto& [target, draft, drafter, coin, decoder] = begun;
        brittle_length stop;
        std::size_t proposed = 0;
        for (int rounds = 0; rounds < 3; ++rounds) { // the last draft is left as it is
            decoder.draft(drafter, stop, coin, 20);
            proposed = decoder.rows_needed() - 1;
            if (rounds == 2)
                break;
            decoder.commit(decoder.verify(decoder.score(target), coin).tokens.size());
        }
        CHECK(proposed > 0);

        for (bool* const when : {&stop.throws, &stop.throws_behind}) {
            *when = true;
            CHECK_THROWS_WITH(decoder.draft(drafter, stop, coin, 20), "stop rule");
            decoder.draw(drafter, stop, coin);
            CHECK_FALSE(decoder.announce(drafter, stop).goes_on);
            CHECK(decoder.rows_needed() == 1);
            CHECK(decoder.verify(decoder.score(target), coin).accepted == 0);

            *when = false; // and begun again it is the draft that it would have been
            decoder.draft(drafter, stop, coin, 20);
            CHECK_FALSE(decoder.announce(drafter, stop).goes_on); // proposed once
            CHECK(decoder.rows_needed() == proposed + 1);
        }
    });
}

} // namespace draft_steps_tests
