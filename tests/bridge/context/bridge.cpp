// SPDX-License-Identifier: MIT
#include <specdec/bridge/context/bridge.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/no_bridge.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "support/archetypes.hpp"
#include "support/counting_tokenizer.hpp"
#include "support/script_drafter.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

template <class B>
constexpr bool bridges = Bridge<B, drafter_archetype, stop_rule_archetype, coin_archetype>;

/// Any tokenizers and any draft context do.
using letters_slem = slem_bridge<tokenizer_archetype<target_id>, tokenizer_archetype<draft_id>>;
using letters_tli = tli_bridge<tokenizer_archetype<target_id>, tokenizer_archetype<draft_id>>;
using letters_union = union_bridge<tokenizer_archetype<target_id>, tokenizer_archetype<draft_id>>;
using other_context = token_bridge<draft_context_archetype, identity_map>;

struct no_follow : no_bridge {
    void follow(std::span<const target_id>) = delete;
};
struct no_start : no_bridge {
    void start(std::span<const draft_id>) = delete;
};
struct follows_draft_ids : no_bridge {
    void follow(std::span<const draft_id>) {}
};
struct proposes_tokens : no_bridge {
    template <class D, class Stop, Coin C>
    std::span<const target_id> propose(D&, const Stop&, C&, const draft_request&) {
        return {};
    }
};
struct unnamed_law {
    void start(std::span<const draft_id>) {}
    void follow(std::span<const target_id>) {}
    template <class D, class Stop, Coin C>
    draft_view<one_hot_law<target_id>> propose(D&, const Stop&, C&, const draft_request&) {
        return {};
    }
};

struct told_drafter : script_drafter {
    static constexpr model_traits traits{.begin_draft_round = true};
    using script_drafter::script_drafter;
    std::vector<std::size_t> begun{};
    void begin_draft_round(std::size_t tokens) { begun.push_back(tokens); }
};
static_assert(RoundAware<told_drafter> && !RoundAware<script_drafter>);

} // namespace

static_assert(bridges<no_bridge>);
static_assert(bridges<identity_bridge>);
static_assert(bridges<letters_slem>);
static_assert(bridges<letters_tli>);
static_assert(bridges<letters_union>);
static_assert(bridges<other_context>);
static_assert(!bridges<int>);
static_assert(!bridges<no_follow>);
static_assert(!bridges<no_start>);
static_assert(!bridges<follows_draft_ids>);
static_assert(!bridges<proposes_tokens>);
static_assert(!bridges<unnamed_law>);
static_assert(!Bridge<no_bridge, int, stop_rule_archetype, coin_archetype>);
static_assert(!Bridge<no_bridge, no_drafter, int, coin_archetype>);
static_assert(!Bridge<no_bridge, no_drafter, stop_rule_archetype, int>);

TEST_CASE("end ids are found") {
    const std::vector<target_id> ends{target_id{3}, target_id{5}};
    CHECK(is_end(ends, target_id{5}));
    CHECK_FALSE(is_end(ends, target_id{4}));
    CHECK_FALSE(is_end({}, target_id{3}));
    CHECK_FALSE(is_end(ends, target_id{}));
}

TEST_CASE("bridges run with nothing but what the concepts promise") {
    const tokenizer_archetype<target_id> target;
    const tokenizer_archetype<draft_id> draft;
    const id_map map = id_map::identity(4, 4);
    const std::vector<target_id> prompt{target_id{0}, target_id{1}};
    const auto run = [&](auto bridge) {
        drafter_archetype drafter;
        coin_archetype coin;
        bridge.start({});
        bridge.follow(prompt);
        const auto draft_made =
            bridge.propose(drafter, stop_rule_archetype(), coin, {2, 3, {}, {}});
        REQUIRE(draft_made.reason == no_draft::none);
        REQUIRE(!draft_made.proposals.empty());
        REQUIRE(draft_made.proposals.size() <= 3);
    };
    const retokenised_context<tokenizer_archetype<target_id>, tokenizer_archetype<draft_id>>
        context(target, draft, map, 16);
    run(letters_tli(tli_map(map), context, 3));
    run(letters_union(union_map(map), context, 3));
    run(letters_slem(target, draft, map, 16, 3));
    run(other_context(identity_map(4, 4), {}, 3));
    run(make_identity_bridge(4, 4, 16, 3));
}

TEST_CASE("a draft that the drafter's context has no room for is not begun, however long") {
    shared_context context(4, 16);
    context.start({});
    context.follow(std::vector(4, target_id{0}));
    script_drafter drafter(4, {draft_id{1}});
    REQUIRE(drafter.capacity() > 4);
    const std::size_t room = drafter.capacity() - 4, most = ~std::size_t{0};
    const auto begun = [&](std::size_t longest) {
        return begin_draft(context, drafter, fixed_length{2}, 4, longest);
    };
    CHECK(begun(room) == no_draft::none);
    for (const std::size_t longest : {room + 1, room + 4, room + 5, most - 4, most - 3, most})
        CHECK(begun(longest) == no_draft::drafter_full);
}

TEST_CASE("slrs and merge refuse a longest draft that is no length") {
    const toy_pair two;
    CHECK_THROWS_WITH(make_slrs_bridge(two.target, two.draft, two.map, two.order, two.edges, 512,
                                       {.max_draft = ~std::size_t{0}}),
                      "pushforward bridge: max_draft: expected at most the capacity");
}

TEST_CASE("a drafter that wants to know is told where a round begins, by every bridge") {
    const toy_pair two;
    const auto check = [&](auto bridge) {
        told_drafter drafter(10, {draft_id{1}, draft_id{5}});
        philox_coin coin(1);
        const fixed_length three{3};
        bridge.start({});
        bridge.follow(two.encode("ab"));
        draft_request request;
        (void)bridge.propose(drafter, three, coin, request); // no room
        CHECK(drafter.begun.empty());
        request.max_proposals = 4;
        (void)bridge.propose(drafter, three, coin, request);
        CHECK(drafter.begun == std::vector{bridge.context().ids().size()});
        bridge.follow(two.encode("c c"));
        (void)bridge.propose(drafter, three, coin, request);
        CHECK(drafter.begun.back() == bridge.context().ids().size());
        CHECK(drafter.begun.size() == 2);
    };
    check(two.tli(3));
    check(two.union_of(3));
    check(two.nested(3));
    check(two.slrs(3));
    check(two.slem(3));
    check(two.spelling(3));
}

TEST_CASE("where the stop rule wants no draft, no bridge asks its context or its drafter") {
    struct asked_context {
        std::size_t* asked;
        std::vector<draft_id> read{};
        void start(std::span<const draft_id>) {}
        void follow(std::span<const target_id> t) { read.resize(read.size() + t.size()); }
        std::span<const draft_id> ids() const { return ++*asked, read; }
        std::size_t unchanged() const { return ++*asked, 0; }
        void mark() { ++*asked; }
    };
    static_assert(DraftContext<asked_context>);
    std::size_t asked = 0;
    asked_context context{&asked};
    script_drafter drafter(10, {draft_id{1}}, 6);
    CHECK(begin_draft(context, drafter, fixed_length{0}, 1, 1) == no_draft::stop_rule);
    CHECK(begin_draft(context, drafter, fixed_length{2}, 0, 1) == no_draft::no_room);
    CHECK(begin_draft(context, drafter, fixed_length{0}, 1, 1, false) == no_draft::nothing_shared);
    CHECK(asked == 0);
    CHECK(begin_draft(context, drafter, fixed_length{2}, 1, 1) == no_draft::nothing_to_say);
    context.read.resize(4);
    CHECK(begin_draft(context, drafter, fixed_length{2}, 1, 2) == no_draft::none);
    CHECK(begin_draft(context, drafter, fixed_length{2}, 1, 3) == no_draft::drafter_full);
    CHECK(drafter.syncs + drafter.rows == 0);
}

TEST_CASE("bridges of rounds without drafts leave the text unread") {
    const toy_pair two;
    const counting_tokenizer<draft_id> draft{two.draft};
    const auto check = [&](auto bridge) {
        script_drafter drafter(10, {draft_id{1}, draft_id{5}});
        philox_coin coin(1);
        const draft_request request{.max_proposals = 4};
        const std::size_t before = draft.encodes;
        bridge.start({});
        for (int round = 0; round < 9; ++round) {
            bridge.follow(two.encode("ab c"));
            CHECK(bridge.propose(drafter, fixed_length{0}, coin, request).reason ==
                  no_draft::stop_rule);
        }
        CHECK(draft.encodes == before);
        CHECK(drafter.syncs == 0);
        CHECK(bridge.propose(drafter, fixed_length{2}, coin, request).reason == no_draft::none);
        CHECK(draft.encodes > before);
        CHECK(copy_of(bridge.context().ids()) ==
              two.encode_draft("ab cab cab cab cab cab cab cab cab c"));
    };
    const retokenised_context context(two.target, draft, two.map, 64);
    using counted = counting_tokenizer<draft_id>;
    check(token_bridge(tli_map(two.map), context, 3));
    check(token_bridge(union_map(two.map), context, 3));
    check(nested_tli_bridge<target_words, counted>(two.pieces, context, 3));
    check(spelling_bridge<target_words, counted>(two.spellings, context, 64, {.max_draft = 3}));
    check(slem_bridge(two.target, draft, two.map, 64, 3));
    check(make_slrs_bridge(two.target, draft, two.map, two.order, two.edges, 64, {3}));
}

TEST_CASE("a drafter's row of another length is refused in the bridge's name") {
    script_drafter drafter(5, {draft_id{2}});
    CHECK(next_row(drafter, 5, "bridge").size() == 5);
    for (const std::size_t ids : {4U, 6U})
        CHECK_THROWS_WITH(next_row(drafter, ids, "some bridge"),
                          "some bridge: drafter's row: expected " + std::to_string(ids) +
                              " logits, one for each id of the map, found 5");
}
