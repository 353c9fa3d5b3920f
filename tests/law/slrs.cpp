// SPDX-License-Identifier: MIT
// String-level rejection sampling: the output law by the whole probabilities of its laws,
// enumerated (the lazy decisions that ship: sessions_lazy.cpp).
#include <specdec/bridge/slrs.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "bridge_cases.hpp"
#include "support/tiny_bpe.hpp"
#include "support/toy_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

template <class Target, class Draft>
void check_pair(const slrs_pair<Target, Draft>& pair) {
    check_rounds<enumerating_coin>([&](std::size_t gamma) { return pair.bridge(gamma); },
                                   pair.target.vocabulary_size(), pair.draft.vocabulary_size());
}

/// The chance that the first proposal of a round is accepted.
double first_accepted(const auto& bridge, const auto& rule, row_tree& p, row_tree& q,
                      const sampling_parameters& draft = {}) {
    return mean_of(on_every_path<enumerating_coin>([&](enumerating_coin& coin) {
        toy_model<target_id> target(p({}).size(), [&](const auto&) { return p({}); });
        toy_model<draft_id> drafts(q({}).size(), [&](const auto&) { return q({}); });
        model_drafter drafter(drafts);
        session decoder(bridge, rule, {.draft = draft, .capacity = 16});
        decoder.start(std::vector{target_id{0}}, {});
        return decoder.round(target, drafter, fixed_length{2}, coin, 8).accepted > 0;
    }));
}

} // namespace

TEST_CASE("slrs: shorter draft tokens that make up longer target tokens", "[law]") {
    check_pair(slrs_pair<target_words, draft_words>{target_words{{"a", "b", "ab", "bba"}},
                                                    draft_words{{"a", "b"}}});
}

TEST_CASE("slrs: tokens of one side only, and control tokens", "[law]") {
    const pair_of_tokenizers two;
    slrs_pair<target_words, draft_words> pair{two.target, two.draft};
    pair.map = two.map;
    check_pair(pair);
}

TEST_CASE("slrs: byte-pair encoding with pre-tokens on the target's side", "[law][computes]") {
    // "ba" joins before "aa": the tokens of aaba depend on what comes last.
    check_pair(slrs_pair<tiny_bpe<target_id>, draft_words>{
        tiny_bpe<target_id>({"a", " ", "ba", "aa", "b"}), draft_words{{"a", "b", " "}}});
    check_pair(slrs_pair<tiny_bpe<target_id>, tiny_bpe<draft_id>>{
        tiny_bpe<target_id>({"a", " ", " a", "aa"}), tiny_bpe<draft_id>({"a", " ", "aa", " aa"})});
}

TEST_CASE("slrs: a target tokenizer that rewrites its text", "[law]") {
    using rewriting = specdec::test::normalising<target_words, target_id>;
    check_pair(slrs_pair<rewriting, draft_words>{
        rewriting(target_words{{"a", "b", "ab", "bb"}},
                  [](std::string_view text) {
                      return specdec::test::replace_all(text, "aa", "a"); // spaces run together
                  }),
        draft_words{{"a", "b"}}});
    check_pair(slrs_pair<rewriting, draft_words>{
        rewriting(target_words{{"a", "b", "ba"}},
                  [](std::string_view text) {
                      return specdec::test::replace_all(text, "ab", "b"); // composed characters
                  }),
        draft_words{{"a", "b", "bb"}}});
}

TEST_CASE("slrs: drafts that end where they become unlikely", "[law]") {
    const slrs_pair<target_words, draft_words> pair{target_words{{"a", "b", "ab", "bba"}},
                                                    draft_words{{"a", "b"}}};
    check_rounds_of<enumerating_coin>(
        rejection,
        [&](std::size_t gamma) { return pair.bridge(gamma, static_cast<double>(gamma) / 8); }, 4,
        2);
}

TEST_CASE("slrs: whole decodes, as a law over bytes", "[law][computes]") {
    const pair_of_tokenizers two;
    slrs_pair<target_words, draft_words> pair{two.target, two.draft};
    pair.map = two.map;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        row_tree p(toy_rows(row_kind::random, 4, seed)), q(toy_rows(row_kind::zeros, 4, seed + 9));
        const law_case c{p, q, 2, 3};
        text_law expected;
        add_target_text(expected, {}, "", 1.0, two.target, c);
        REQUIRE(total_variation(
                    decoded_text_law<enumerating_coin>(pair.bridge(2), rejection, two.target, c),
                    expected) < exact);
    }
}

TEST_CASE("the first proposal is kept as often as Table 2 says, and Theorem 4.1", "[law]") {
    const slrs_pair<target_words, draft_words> two{target_words{{"a", "b", "ab", "bba"}},
                                                   draft_words{{"a", "ba", "b"}}};
    const retokenised_context<target_words, draft_words> context(two.target, two.draft, two.map,
                                                                 16);
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        row_tree rows_p(toy_rows(row_kind::random, 4, seed));
        row_tree rows_q(toy_rows(row_kind::random, 3, seed + 100));
        const auto p = target_law_at(rows_p, {});
        const auto q = make_law(logits_row<draft_id>{rows_q({})}, {});
        const auto kept = [&](const auto& bridge, const auto& rule) {
            return first_accepted(bridge, rule, rows_p, rows_q);
        };
        double psi[4] = {}, shared = 0, of_union = 0, of_tli = 0, of_slem = 0, of_slrs = 0;
        for (int i = 0; i < 9; ++i) { // drafts of two tokens, of which T(..)_1 is the first one
            const draft_id first{i / 3}, second{i % 3};
            std::string text(two.draft.bytes(first));
            text += two.draft.bytes(second);
            const target_id t = testing::encoded(two.target, text, encode_mode::continuation)[0];
            psi[t.index()] += q.probability(first) * q.probability(second);
        }
        const auto of = [&](target_id t) { // q of a token, 0 where it is not shared
            const draft_id d = two.map.to_draft(t);
            return d.valid() ? q.probability(d) : 0.0;
        };
        for (int t = 0; t < 4; ++t)
            shared += of(target_id{t});
        for (int i = 0; i < 4; ++i) {
            const target_id t{i};
            const double p_t = p.probability(t);
            of_union += std::min(p_t, of(t));
            of_tli += std::min(p_t, of(t) / shared);
            of_slem += p_t * psi[i];
            of_slrs += std::min(p_t, psi[i]);
        }
        using words = tli_bridge<target_words, draft_words>;
        using all = union_bridge<target_words, draft_words>;
        CHECK(kept(all(union_map(two.map), context, 2), rejection) == Approx(of_union));
        CHECK(kept(words(tli_map(two.map), context, 2), rejection) == Approx(of_tli));
        CHECK(kept(slem_bridge(two.target, two.draft, two.map, 16, 2), exact_match{}) ==
              Approx(of_slem));
        CHECK(kept(two.bridge(2), rejection) == Approx(of_slrs));
        CHECK((of_union <= of_tli && of_slem <= of_slrs));
    }
}

TEST_CASE("Theorem 4.1 does not hold with top-p: TLI's q' is cut from another law", "[law]") {
    const slrs_pair<target_words, draft_words> two{target_words{{"a", "b", "ab", "bba"}},
                                                   draft_words{{"a", "ba", "b"}}};
    const retokenised_context<target_words, draft_words> context(two.target, two.draft, two.map,
                                                                 16);
    row_tree p(same_rows({0.5F, 0.5F, 0, 0})), q(same_rows({0.5F, 0.2F, 0.3F}));
    const auto rates = [&](const sampling_parameters& draft) {
        return std::pair(
            first_accepted(tli_bridge<target_words, draft_words>(tli_map(two.map), context, 2),
                           rejection, p, q, draft),
            first_accepted(union_bridge<target_words, draft_words>(union_map(two.map), context, 2),
                           rejection, p, q, draft));
    };
    const auto [tli, of_union] = rates({});
    CHECK(tli == Approx(0.5 + 0.375)); // q' = (0.625, 0.375)
    CHECK(of_union == Approx(0.5 + 0.3));
    const auto [tli_cut, union_cut] = rates({.top_p = 0.6F});
    CHECK(tli_cut == Approx(0.5)); // 0.625 is enough: q' = (1, 0)
    CHECK(union_cut == Approx(0.5 + 0.375));
}
