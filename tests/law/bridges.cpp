// SPDX-License-Identifier: MIT
// The output law of every bridge under every lossless rule, enumerated through session and
// generate: joint laws of tokens after one round, and laws of texts over whole decodes.
#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/no_bridge.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/bridge/spelling.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/union.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "bridge_cases.hpp"

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("identity: the law of the target, with unequal padding", "[law]") {
    const auto with = [](std::size_t t, std::size_t d) {
        return [=](std::size_t gamma) { return make_identity_bridge(d, t, 16, gamma); };
    };
    check_rounds(with(3, 3), 3, 3);
    check_rounds(with(3, 4), 3, 4);
    check_rounds(with(4, 3), 4, 3);
}

TEST_CASE("token-level intersection: the law of the target", "[law]") {
    const pair_of_tokenizers two;
    check_rounds(
        [&](std::size_t gamma) {
            using bridge = tli_bridge<target_words, draft_words>;
            return bridge(
                tli_map(two.map),
                retokenised_context<target_words, draft_words>(two.target, two.draft, two.map, 16),
                gamma);
        },
        4, 4);
}

TEST_CASE("union: the law of the target", "[law]") {
    const pair_of_tokenizers two;
    check_rounds(
        [&](std::size_t gamma) {
            using bridge = union_bridge<target_words, draft_words>;
            return bridge(
                union_map(two.map),
                retokenised_context<target_words, draft_words>(two.target, two.draft, two.map, 16),
                gamma);
        },
        4, 4);
}

TEST_CASE("string-level exact match: the law of the target", "[law]") {
    const pair_of_tokenizers two;
    check_rounds(
        [&](std::size_t gamma) { return slem_bridge(two.target, two.draft, two.map, 16, gamma); },
        4, 4);
}

TEST_CASE("guesses by spelling: the law of the target", "[law][computes]") {
    const pair_of_tokenizers two;
    const canonical_spellings spellings(two.target, two.draft, two.map);
    REQUIRE(spellings.of(target_id{2}).size() == 2);
    for (const std::size_t looks : {0U, 8U})
        check_rounds(
            [&](std::size_t gamma) {
                return spelling_bridge(spellings,
                                       retokenised_context<target_words, draft_words>(
                                           two.target, two.draft, two.map, 16),
                                       16, {.max_draft = gamma, .max_looks = looks});
            },
            4, 4);
}

TEST_CASE("duplicates on the draft side are one token of the target", "[law]") {
    // Draft ids 0 and 2 are both the byte a, as in SentencePiece's <0x61> and a.
    const target_words target{{"a", "b", "c"}};
    const draft_words draft{{"a", "b", "a"}};
    const id_map map = intersect(draft.table(), target.table());
    REQUIRE(map.to_target(draft_id{2}) == target_id{0});
    check_rounds(
        [&](std::size_t gamma) {
            using bridge = tli_bridge<target_words, draft_words>;
            return bridge(tli_map(map),
                          retokenised_context<target_words, draft_words>(target, draft, map, 16),
                          gamma);
        },
        3, 3);
}

TEST_CASE("whole decodes: the law of the text, over bytes", "[law][computes]") {
    check_decodes_of(rejection, exact_match{});
}

TEST_CASE("a second sequence on the same models: the law of the target", "[law]") {
    const pair_of_tokenizers two;
    row_tree p(toy_rows(row_kind::random, 4, 71)), q(toy_rows(row_kind::random, 4, 72));
    joint_law law;
    enumerate([&](enumerating_coin& coin) {
        auto target = model_of<target_id>(p);
        auto draft = model_of<draft_id>(q);
        model_drafter drafter(draft);
        session decoder(
            tli_bridge<target_words, draft_words>(
                tli_map(two.map),
                retokenised_context<target_words, draft_words>(two.target, two.draft, two.map, 16),
                2),
            rejection, session_settings{.capacity = 16});
        const std::vector first{target_id{0}, target_id{2}, target_id{1}};
        decoder.start(first);
        philox_coin other(1);
        decoder.commit(decoder.round(target, drafter, fixed_length{2}, other, 4).tokens.size());
        const std::vector second{target_id{0}, target_id{1}, target_id{2}};
        decoder.start(second);
        const round_result round = decoder.round(target, drafter, fixed_length{2}, coin, 3);
        sequence text = values_of(round.tokens);
        text.insert(text.begin(), {1, 2});
        continue_with_target(law, text, coin.probability(), p, 5);
    });
    joint_law expected;
    continue_with_target(expected, {1, 2}, 1.0, p, 5);
    REQUIRE(total_variation(law, expected) < exact);
}
