// SPDX-License-Identifier: MIT
// What all bridges that map token by token have in common, on the token-level intersection.
#include <specdec/bridge/token/token_bridge.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "bridge/greedy_requests.hpp"
#include "support/script_drafter.hpp"
#include "support/watched_coin.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// a, b, c, space of both vocabularies.
const std::vector<draft_id> script{draft_id{1}, draft_id{5}, draft_id{4}, draft_id{2}};
const std::vector<target_id> image{target_id{1}, target_id{2}, target_id{3}, target_id{4}};

struct tli_fixture {
    toy_pair two;
    script_drafter drafter{10, script};
    philox_coin coin{1};
    words_tli bridge = two.tli(4);

    tli_fixture() {
        bridge.start(std::vector{toy_pair::bos});
        bridge.follow(two.encode("abc"));
    }
    auto propose(std::size_t room, std::size_t length = 8) {
        return bridge.propose(drafter, fixed_length{length}, coin, {4, room, greedy, ends});
    }
};

} // namespace

TEST_CASE("draft tokens are proposed as their images and pushed to the drafter") {
    tli_fixture f;
    const auto draft = f.propose(8);
    CHECK(draft.reason == no_draft::none);
    CHECK(tokens_of(draft) == image);
    CHECK(copy_of(draft.draft_tokens) == script);
    CHECK(f.drafter.context.front() == toy_pair::bos);
    CHECK(f.drafter.context.size() == 4);
    CHECK(f.drafter.unchanged == 0);
    CHECK(f.drafter.rows == 4);
}

TEST_CASE("the draft is as long as the shortest of room, stop rule and its own limit") {
    tli_fixture f;
    CHECK(f.propose(2).proposals.size() == 2);
    CHECK(f.propose(8, 3).proposals.size() == 3);
    CHECK(f.propose(8, 100).proposals.size() == 4);
    CHECK(f.propose(1).proposals.size() == 1);
}

TEST_CASE("an end token is the last proposal") {
    tli_fixture f;
    f.drafter = script_drafter(10, {draft_id{1}, toy_pair::stop, draft_id{5}});
    const auto draft = f.propose(8);
    CHECK(tokens_of(draft) == std::vector{target_id{1}, toy_pair::end});
    CHECK(copy_of(draft.draft_tokens) == std::vector{draft_id{1}, toy_pair::stop});
    CHECK(f.drafter.rows == 2);
    // As any other token where the session does not call it an end:
    const auto longer = f.bridge.propose(f.drafter, fixed_length{3}, f.coin, {4, 8, greedy, {}});
    CHECK(tokens_of(longer) == std::vector{target_id{1}, toy_pair::end, target_id{2}});
}

TEST_CASE("every reason for an empty draft") {
    tli_fixture f;
    const auto reason = [](const auto& draft) {
        CHECK(draft.proposals.empty());
        CHECK(draft.draft_tokens.empty());
        return draft.reason;
    };
    CHECK(reason(f.propose(0)) == no_draft::no_room);
    CHECK(reason(f.propose(4, 0)) == no_draft::stop_rule);
    CHECK(f.drafter.syncs == 0); // nothing was asked of the drafter

    script_drafter full(10, script, 7); // the context and a draft of four are one too many
    CHECK(reason(f.bridge.propose(full, fixed_length{}, f.coin, {4, 8, greedy, ends})) ==
          no_draft::drafter_full);
    CHECK(full.syncs == 0);
    CHECK(f.bridge.propose(full, fixed_length{}, f.coin, {4, 3, greedy, ends}).proposals.size() ==
          3);

    f.bridge.start({});
    CHECK(reason(f.propose(4)) == no_draft::nothing_to_say);

    script_drafter foreign(10, {draft_id{3}}); // ba: only the drafter has it
    foreign.forbid_others = true;
    f.bridge.follow(f.two.encode("abc"));
    CHECK(reason(f.bridge.propose(foreign, fixed_length{}, f.coin, {4, 8, greedy, ends})) ==
          no_draft::nothing_shared);

    for (const char* const word : {"y", "a"}) { // one shared token is enough
        const draft_words other{{"x", word}};
        const id_map map = intersect(other.table(), f.two.target.table());
        words_tli apart(tli_map(map), words_context(f.two.target, other, map, 64), 4);
        script_drafter xy(2, {draft_id{0}});
        apart.start(std::vector{draft_id{0}});
        CHECK(apart.propose(xy, fixed_length{}, f.coin, {4, 8, greedy, ends}).reason ==
              (map.shared() == 1 ? no_draft::none : no_draft::nothing_shared));
    }

    words_tli none = f.two.tli(0);
    none.start(std::vector{toy_pair::bos});
    CHECK(reason(none.propose(f.drafter, fixed_length{}, f.coin, {4, 8, greedy, ends})) ==
          no_draft::no_room);
}

TEST_CASE("a drafter that runs dry ends the draft with what it has") {
    tli_fixture f;
    f.drafter = script_drafter(10, {draft_id{1}, draft_id{3}});
    f.drafter.forbid_others = true;
    const auto draft = f.propose(8);
    CHECK(draft.reason == no_draft::none);
    CHECK(tokens_of(draft) == std::vector{target_id{1}});
}

TEST_CASE("every proposal keeps the law it was drawn from after the drafter has moved on") {
    tli_fixture f;
    const auto draft = f.bridge.propose(f.drafter, fixed_length{}, f.coin, {4, 4, {}, ends});
    REQUIRE(draft.proposals.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        // The script's token has 2, the other six that are shared have 0: the second a is one of
        // them.
        const double z = 6 + std::exp(2.0);
        const bool is_a = i == 0;
        CHECK(draft.proposals[i].law().probability(image[i]) ==
              Approx((std::exp(2.0) + (is_a ? 1 : 0)) / z).epsilon(1e-5));
        double sum = 0;
        for (std::size_t t = 0; t < 9; ++t)
            sum += draft.proposals[i].law().probability(id_at<target_id>(t));
        CHECK(sum == Approx(1.0));
    }
}

TEST_CASE("every draft site has the place of its token, if the request has one") {
    tli_fixture f;
    // a, " a", <stop> and c: one byte, two, a control token, one.
    f.drafter = script_drafter(10, {draft_id{1}, draft_id{7}, toy_pair::stop, draft_id{4}});
    const std::vector<std::uint32_t> widths{1, 1, 1, 1, 1, 2, 2, 1, 3};
    text_offset place(widths);
    place.pass("abc");
    for (int i = 0; i < 2; ++i) { // an abandoned draft moves nothing
        watched_coin<> watch;
        (void)f.bridge.propose(f.drafter, fixed_length{8}, watch,
                               draft_request{3, 8, greedy, {}, place});
        CHECK(watch.places() == std::vector<std::uint64_t>{3, 4, 6, 7});
    }
    watched_coin<> watch;
    (void)f.bridge.propose(f.drafter, fixed_length{8}, watch, draft_request{3, 8, greedy, {}});
    CHECK(watch.places() == std::vector<std::uint64_t>(4));
}
