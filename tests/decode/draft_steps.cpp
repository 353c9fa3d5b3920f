// SPDX-License-Identifier: MIT
#include <specdec/decode/draft_steps.hpp>

#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/session.hpp>

#include "support/decoding.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace draft_steps_tests {

/// Drafts of so many tokens; throws when it is told to, before a token or behind its draw.
struct brittle_length {
    static constexpr rule_traits traits{.predict = true};
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
    [[nodiscard]] law_version version() const { return 0; }
};

TEST_CASE(
    "a draft that broke off proposes nothing, and goes on as the draft that it would have been") {
    toy_world world;
    for_every_bridge(world, 4, [&](const char* name, auto bridge) {
        CAPTURE(name);
        begun_text begun(world, bridge, token_rejection{}, world.settings(1)),
            whole(world, bridge, token_rejection{}, world.settings(1));
        auto& [target, draft, drafter, coin, decoder] = begun;
        brittle_length stop;
        const auto round = [&](auto& text) {
            text.decoder.draft(text.drafter, stop, text.coin, 20);
            const std::size_t proposed = text.decoder.rows_needed() - 1;
            text.decoder.commit(
                text.decoder.verify(text.decoder.score(text.target), text.coin).tokens.size());
            return proposed;
        };
        std::size_t proposed = 0;
        for (bool* const when : {&stop.throws, &stop.throws_behind}) {
            CHECK(round(begun) == round(whole)); // the last draft is left as it is
            *when = true;
            CHECK_THROWS_WITH(decoder.draft(drafter, stop, coin, 20), "stop rule");
            decoder.draw(drafter, stop, coin);
            CHECK_FALSE(decoder.request_row(drafter, stop).goes_on);
            CHECK(decoder.rows_needed() == 1);
            if (when == &stop.throws_behind) // something was drawn
                CHECK_THROWS_WITH(decoder.verify(decoder.score(target), coin),
                                  Catch::Contains("expected a draft that has ended"));

            *when = false;
            decoder.draft(drafter, stop, coin, 20);
            CHECK_FALSE(decoder.request_row(drafter, stop).goes_on); // proposed once
            const std::size_t n = decoder.rows_needed();
            decoder.draft(drafter, stop, coin, 20);
            CHECK(decoder.rows_needed() == n);
            proposed = round(begun);
            CHECK(proposed == n - 1);
            CHECK(round(whole) == proposed);
            const auto tokens = decoder.tokens(), others = whole.decoder.tokens();
            CHECK(std::vector(tokens.begin(), tokens.end()) ==
                  std::vector(others.begin(), others.end()));
        }
        CHECK(proposed > 0);
    });
}

TEST_CASE(
    "a round that is abandoned is drafted anew, and one for which there is no room is refused") {
    toy_world world;
    begun_text begun(world, world.two.tli(4), token_rejection{}, world.settings(1), 3);
    auto& [target, draft, drafter, coin, decoder] = begun;
    const brittle_length stop;
    decoder.abandon(); // none
    decoder.draft(drafter, stop, coin, 20);
    REQUIRE(decoder.rows_needed() > 2);
    CHECK_THROWS_WITH(decoder.draft(drafter, stop, coin, 2),
                      Catch::Contains("session: draft: expected room for the"));
    std::size_t others = 0;
    const auto proposed = [&] {
        const auto edit = decoder.target_edit();
        return std::vector(edit.append.end() - static_cast<std::ptrdiff_t>(decoder.rows_needed()),
                           edit.append.end());
    };
    for (int i = 0; i < 10; ++i) {
        const auto before = proposed();
        decoder.draft(drafter, stop, coin, 20);
        CHECK(proposed() == before);
        (void)decoder.verify(decoder.score(target), coin);
        decoder.abandon();
        CHECK(decoder.rows_needed() == 1);
        decoder.draft(drafter, stop, coin, 20);
        others += proposed() != before ? 1U : 0U;
    }
    CHECK(others > 2);
    decoder.abandon();
    decoder.draft(drafter, stop, coin, 2);
    CHECK(decoder.rows_needed() == 2);
}

} // namespace draft_steps_tests
