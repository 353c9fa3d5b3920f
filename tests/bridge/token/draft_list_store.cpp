// SPDX-License-Identifier: MIT
#include <specdec/bridge/token/draft_list_store.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "support/list_drafter.hpp"
#include "support/script_drafter.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace draft_list_store_tests {

using entries = list_drafter::entries;
using tli_lists = tli_bridge<target_words, draft_words, draft_list_store>;
using union_lists = union_bridge<target_words, draft_words, draft_list_store>;
using identity_lists = token_bridge<shared_context, identity_map, draft_list_store>;

static_assert(Bridge<tli_lists, list_drafter, fixed_length, philox_coin>);
static_assert(!Bridge<tli_lists, script_drafter, fixed_length, philox_coin>);
static_assert(!Bridge<words_tli, list_drafter, fixed_length, philox_coin>);
static_assert(Bridge<identity_lists, list_drafter, fixed_length, philox_coin>);

/// a, space, ba (the drafter's own), c, b; the second a.
constexpr draft_id a{1}, space{2}, ba{3}, c{4}, b{5}, second_a{9};

struct pair_fixture {
    toy_pair two;
    philox_coin coin{3};

    template <class Bridge>
    Bridge started(Bridge bridge) const {
        bridge.start(std::vector{toy_pair::bos});
        return bridge;
    }
    tli_lists tli(std::size_t most = 4) const {
        return started(tli_lists(tli_map(two.map),
                                 words_context(two.target, two.draft, two.map, 64), 3, most));
    }
};

template <class Bridge, class Stop = fixed_length>
auto propose(Bridge& bridge, list_drafter& drafter, philox_coin& coin, const Stop& stop = {},
             const sampling_parameters& sampling = {}) {
    return bridge.propose(drafter, stop, coin, {0, 8, sampling, {}});
}

TEST_CASE("of a list stays what the map allows, renormalised") {
    pair_fixture f;
    tli_lists bridge = f.tli();
    list_drafter drafter(10, {{{a, 1}, {ba, 5}, {c, 2}, {second_a, 1}}});
    const auto draft = propose(bridge, drafter, f.coin);
    REQUIRE(draft.proposals.size() == 3);
    for (const auto& x : draft.proposals) {
        CHECK((x.token() == target_id{1} || x.token() == target_id{3}));
        CHECK(x.law().probability(target_id{1}) == 0.5); // two draft tokens
        CHECK(x.law().probability(target_id{3}) == 0.5);
    }
    CHECK(copy_of(draft.draft_tokens).size() == 3);
    CHECK(drafter.pushed.size() == 3);
}

TEST_CASE("every proposal keeps its law after the drafter has written the next list") {
    pair_fixture f;
    tli_lists bridge = f.tli();
    list_drafter drafter(10, {{{a, 1}, {c, 3}}, {{space, 1}}, {{a, 3}, {b, 1}}});
    const auto draft = propose(bridge, drafter, f.coin);
    REQUIRE(draft.proposals.size() == 3);
    CHECK(draft.proposals[0].law().probability(target_id{1}) == 0.25);
    CHECK(draft.proposals[0].law().probability(target_id{3}) == 0.75);
    CHECK(draft.proposals[1].law().probability(target_id{4}) == 1);
    CHECK(draft.proposals[2].law().probability(target_id{1}) == 0.75);
}

TEST_CASE("a list that leaves nothing to draw ends the draft") {
    pair_fixture f;
    tli_lists bridge = f.tli();
    for (const entries& nothing : {entries{}, {{ba, 1}}, {{a, 0}, {ba, 1}}, {{c, 0}}}) {
        list_drafter drafter(10, {{{a, 1}}, nothing});
        CHECK(propose(bridge, drafter, f.coin).proposals.size() == 1);
        list_drafter mute(10, {nothing});
        const auto draft = propose(bridge, mute, f.coin);
        CHECK(draft.proposals.empty());
        CHECK(draft.reason == no_draft::nothing_shared);
    }
}

TEST_CASE("the union strategy draws what the target lacks, which ends the draft") {
    pair_fixture f;
    union_lists bridge = f.started(union_lists(
        union_map(f.two.map), words_context(f.two.target, f.two.draft, f.two.map, 64), 3));
    list_drafter drafter(10, {{{a, 1}}, {{ba, 1}}});
    const auto draft = propose(bridge, drafter, f.coin);
    REQUIRE(draft.proposals.size() == 2);
    CHECK(!draft.proposals[1].token().valid());
    CHECK(draft.proposals[1].law().probability(target_id{1}) == 0);
}

TEST_CASE("one vocabulary: ids that only the drafter has are not drawn") {
    philox_coin coin(1);
    identity_lists bridge = make_identity_bridge<draft_list_store>(10, 8, 64, 3, 3);
    bridge.start(std::vector{draft_id{0}});
    list_drafter drafter(10, {{{draft_id{2}, 1}, {draft_id{7}, 1}, {draft_id{8}, 6}}});
    const auto draft = propose(bridge, drafter, coin);
    REQUIRE(draft.proposals.size() == 3);
    CHECK(draft.proposals[0].law().probability(target_id{7}) == 0.5);
    CHECK(draft.proposals[0].law().probability(target_id{8}) == 0);
}

struct reads_entropy {
    static constexpr rule_traits traits{.reads = true};
    [[nodiscard]] law_version version() const { return 0; }
    [[nodiscard]] static bool more(const draft_progress& p) { return p.drafted < 2; }
    [[nodiscard]] static row_reading reads() { return row_reading::entropy; }
};

TEST_CASE("stop rules read lists: probability and entropy of what is left") {
    pair_fixture f;
    tli_lists bridge = f.tli();
    list_drafter drafter(10, {{{a, 1}, {ba, 4}, {c, 3}}, {{b, 2}}});
    const auto draft = propose(bridge, drafter, f.coin, reads_entropy{});
    REQUIRE(draft.steps.size() == 2);
    CHECK(draft.steps[0].entropy ==
          Approx(-(0.25 * std::log(0.25) + 0.75 * std::log(0.75))).epsilon(1e-12));
    CHECK(draft.steps[0].sure == draft.proposals[0].probability());
    CHECK(draft.steps[0].last == draft.steps[0].sure);
    CHECK(draft.steps[1].entropy == Approx(0).margin(1e-12));
    const auto plain = propose(bridge, drafter, f.coin);
    CHECK(plain.steps[0].entropy == 0);
}

TEST_CASE("lists that cannot be read are refused, and say what was expected") {
    using Catch::Contains;
    pair_fixture f;
    tli_lists bridge = f.tli(3);
    const auto refused = [&](std::size_t vocabulary, const entries& list) {
        list_drafter drafter(vocabulary, {list});
        std::string message;
        try {
            (void)propose(bridge, drafter, f.coin);
        } catch (const error& problem) {
            message = problem.what();
        }
        return message;
    };
    CHECK_THAT(refused(11, {{a, 1}}), Contains("drafter's list") && Contains("10 ids of the map"));
    CHECK_THAT(refused(10, {{a, 1}, {space, 1}, {c, 1}, {b, 1}}),
               Contains("at most 3 entries, found 4"));
    for (const entries& list : {entries{{c, 1}, {a, 1}},
                                {{a, 1}, {a, 1}},
                                {{draft_id{-3}, 1}, {a, 1}},
                                {{a, 1}, {draft_id{10}, 1}},
                                {{a, -1}},
                                {{a, 2}, {b, -1}}})
        CHECK_THAT(refused(10, list), Contains("ids in ascending order inside the vocabulary"));
    for (const float weight : {__builtin_inff(), std::nanf("")})
        CHECK_THAT(refused(10, {{a, 1}, {c, weight}}), Contains("finite sum"));
    CHECK(refused(10, {{a, 0}, {space, 1}, {c, 1}}).empty());

    list_drafter drafter(10, {{{a, 1}}});
    CHECK_THROWS_WITH(propose(bridge, drafter, f.coin, fixed_length{}, {.temperature = 0.5F}),
                      Contains("distributions already"));
    CHECK(propose(bridge, drafter, f.coin).proposals.size() == 3); // nothing was lost
}

} // namespace draft_list_store_tests
