// SPDX-License-Identifier: MIT
#include <specdec/bridge/slem.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "greedy_requests.hpp"
#include "support/script_drafter.hpp"
#include "support/watched_coin.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

struct slem_fixture {
    toy_pair two;
    philox_coin coin{1};
    words_slem bridge = two.slem(4);

    explicit slem_fixture(std::string_view committed = "c") {
        bridge.start(std::vector{toy_pair::bos});
        bridge.follow(two.encode(committed));
    }
    auto propose(script_drafter& drafter, std::size_t room, std::size_t length = 8,
                 std::span<const target_id> end_ids = ends) {
        return bridge.propose(drafter, fixed_length{length}, coin, {4, room, greedy, end_ids});
    }
};

const draft_id a{1}, space{2}, ba{3}, c{4}, b{5}, ca{8};

} // namespace

TEST_CASE("the draft's text is proposed in the target's tokens") {
    slem_fixture f;
    script_drafter drafter(10, {a, b, c, space});
    const auto draft = f.propose(drafter, 8);
    CHECK(draft.reason == no_draft::none);
    CHECK(tokens_of(draft) == f.two.encode("abc ")); // abc is one token of the target
    CHECK(tokens_of(draft).size() == 2);
    CHECK(copy_of(draft.draft_tokens) == std::vector{a, b, c, space});
    CHECK(drafter.pushed == std::vector{a, b, c, space});
    for (const auto& x : draft.proposals)
        CHECK(x.probability() == 1.0);
}

TEST_CASE("the whole vocabulary of the drafter may be used") {
    slem_fixture f;
    script_drafter drafter(10, {ba, ca, b});
    CHECK(tokens_of(f.propose(drafter, 8, 3)) == f.two.encode("bacab"));
}

TEST_CASE("what goes on inside a committed token is proposed alone") {
    slem_fixture f("a"); // a + b would be one token of the target
    script_drafter drafter(10, {b, c});
    CHECK(tokens_of(f.propose(drafter, 8, 2)) == std::vector{target_id{2}, target_id{3}});
}

TEST_CASE("room, length and limit of the draft") {
    slem_fixture f;
    script_drafter drafter(10, {c});
    CHECK(f.propose(drafter, 2).proposals.size() == 2); // room is counted in target tokens
    CHECK(f.propose(drafter, 8, 3).draft_tokens.size() == 3);
    CHECK(f.propose(drafter, 8, 100).draft_tokens.size() == 4);
}

TEST_CASE("a control token ends the draft, its equivalent is proposed last") {
    slem_fixture f;
    script_drafter drafter(10, {a, toy_pair::stop, b});
    const auto draft = f.propose(drafter, 8);
    CHECK(tokens_of(draft) == std::vector{target_id{1}, toy_pair::end});
    CHECK(copy_of(draft.draft_tokens) == std::vector{a, toy_pair::stop});

    script_drafter foreign(10, {a, toy_pair::bos, b}); // <bos> has no equivalent
    CHECK(tokens_of(f.propose(foreign, 8)) == std::vector{target_id{1}});

    script_drafter at_once(10, {toy_pair::stop});
    CHECK(tokens_of(f.propose(at_once, 8)) == std::vector{toy_pair::end});
}

TEST_CASE("an end id that is text ends the draft behind it") {
    slem_fixture f;
    script_drafter drafter(10, {c, space, c, c});
    const std::vector<target_id> space_ends{target_id{4}};
    CHECK(tokens_of(f.propose(drafter, 8, 4, space_ends)) ==
          std::vector{target_id{3}, target_id{4}});
}

TEST_CASE("every reason for an empty draft of text") {
    slem_fixture f;
    script_drafter drafter(10, {a});
    const auto reason = [](const auto& draft) {
        CHECK(draft.proposals.empty());
        return draft.reason;
    };
    CHECK(reason(f.propose(drafter, 0)) == no_draft::no_room);
    CHECK(reason(f.propose(drafter, 8, 0)) == no_draft::stop_rule);
    CHECK(drafter.syncs == 0);
    script_drafter full(10, {a}, 5); // two in the context, four of a draft
    CHECK(reason(f.propose(full, 8)) == no_draft::drafter_full);
    CHECK(full.syncs == 0);
    script_drafter fits(10, {a}, 6);
    CHECK(f.propose(fits, 8).reason == no_draft::none);

    script_drafter silent(10, {toy_pair::bos});
    const auto nothing = f.propose(silent, 8);
    CHECK(nothing.draft_tokens.size() == 1); // paid for
    CHECK(reason(nothing) == no_draft::nothing_to_say);

    f.bridge.start({});
    CHECK(reason(f.propose(drafter, 8)) == no_draft::nothing_to_say);
}

TEST_CASE("every draft site has the place of its bytes, if the request has one") {
    slem_fixture f;
    script_drafter drafter(10, {ba, c, ca, toy_pair::stop});
    const std::vector<std::uint32_t> widths{1, 1, 1, 1, 1, 2, 2, 1, 3};
    text_offset place(widths);
    place.pass("c");
    for (int i = 0; i < 2; ++i) { // an abandoned draft moves nothing
        watched_coin<> watch;
        (void)f.bridge.propose(drafter, fixed_length{4}, watch,
                               draft_request{1, 8, greedy, {}, place});
        CHECK(watch.places() == std::vector<std::uint64_t>{1, 3, 4, 6});
    }
    watched_coin<> watch;
    (void)f.bridge.propose(drafter, fixed_length{4}, watch, draft_request{1, 8, greedy, {}});
    CHECK(watch.places() == std::vector<std::uint64_t>(4));
}

TEST_CASE("a row of the drafter that forbids everything ends the draft") {
    struct runs_dry {
        std::size_t left;
        std::vector<float> values = std::vector<float>(10, -__builtin_inff());
        [[nodiscard]] std::size_t capacity() const { return 100; }
        void sync(std::span<const draft_id>, std::size_t) {}
        logits_row<draft_id> row() {
            values[4] = left == 0 ? -__builtin_inff() : 1.0F; // c
            left -= left > 0 ? 1 : 0;
            return {values};
        }
        [[nodiscard]] law_version version() const { return 0; }
        void push(draft_id) {}
    };
    for (const std::size_t tokens : {0U, 1U, 2U}) {
        slem_fixture f;
        runs_dry drafter{tokens};
        const auto draft = f.bridge.propose(drafter, fixed_length{4}, f.coin, {4, 8, {}, ends});
        CHECK(draft.draft_tokens.size() == tokens);
        CHECK(tokens_of(draft) == std::vector<target_id>(tokens, target_id{3}));
        CHECK(draft.reason == (tokens == 0 ? no_draft::nothing_to_say : no_draft::none));
    }
}
