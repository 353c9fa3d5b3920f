// SPDX-License-Identifier: MIT
// Coupled match is lossless. Enumerated: with a coin of independent outcomes its joint law is the
// target's, through session and generate, with every bridge. Sampled: with the coupled coin, whose
// outcomes depend on places and bytes, texts follow the enumerated law.
#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/no_bridge.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/bridge/spelling.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/bridge/union.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/tree/coupled_tree_match.hpp>

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/vocab/table/intersection.hpp>

#include "bridge_cases.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

using words_context = retokenised_context<target_words, draft_words>;

/// Two tokenizers over {a, b}: pieces of one side only, ids permuted, ids of equal bytes on both
/// sides, control tokens that are joined.
struct coupled_pair {
    target_words target{{"a", "b", "ab", "<end>", "a"}};
    draft_words draft{{"a", "ba", "<end>", "b", "a"}};
    id_map map = intersect(draft.table(), target.table(), [] {
        equivalences same;
        same.add(draft_id{2}, target_id{3});
        return same;
    }());
    text_keys keys{target, map};
    canonical_spellings spellings{target, draft, map};

    [[nodiscard]] words_context context() const { return {target, draft, map, 16}; }

    template <class F>
    void for_every_bridge(std::size_t gamma, F&& f) const {
        f("none", no_bridge{});
        f("tli", tli_bridge<target_words, draft_words>(tli_map(map), context(), gamma));
        f("union", union_bridge<target_words, draft_words>(union_map(map), context(), gamma));
        f("slem", slem_bridge(target, draft, map, 16, gamma));
        f("spelling", spelling_bridge(spellings, context(), 16, {.max_draft = gamma}));
        f("identity", make_identity_bridge(5, 5, 16, gamma));
    }
};

} // namespace

TEST_CASE("coupled match: the law of the target, with every draft law", "[law]") {
    const coupled_pair two;
    coupled_match rule(two.keys);
    rule.start(std::vector{target_id{0}});
    for_every_pair_of_rows(4, 4, [&](row_tree& p, row_tree& q) {
        for (const std::size_t gamma : {0U, 1U, 2U, 3U}) {
            const auto soft = [&](const sequence& prefix) { return target_law_at(q, prefix); };
            const auto certain = [&](const sequence& prefix) {
                return one_hot_law<target_id>(target_law_at(q, prefix, {.temperature = 0}).at(0.0));
            };
            const joint_law expected = target_alone(p, gamma + 1);
            REQUIRE(total_variation(rule_law(rule, soft, p, gamma), expected) < exact);
            REQUIRE(total_variation(rule_law(rule, certain, p, gamma), expected) < exact);
        }
    });
}

TEST_CASE("coupled match: the law of the target, with every bridge", "[law]") {
    const coupled_pair two;
    for_every_pair_of_rows(5, 5, [&](row_tree& p, row_tree& q) {
        for (const std::size_t gamma : {1U, 2U})
            two.for_every_bridge(gamma, [&](const char* name, auto bridge) {
                CAPTURE(name, gamma);
                const coupled_match rule(two.keys);
                const law_case c{p, q, gamma, gamma + 1};
                REQUIRE(total_variation(session_law(bridge, rule, c), target_alone(p, gamma + 1)) <
                        exact);
                const sampling_parameters cut{.temperature = 0.7F, .top_k = 3};
                const law_case stopped{p, q, gamma, gamma + 1, cut, 0.4};
                REQUIRE(total_variation(session_law(bridge, rule, stopped),
                                        target_alone(p, gamma + 1, cut)) < exact);
            });
    });
}

TEST_CASE("coupled trees give the text of coupled match", "[law]") {
    const coupled_pair two;
    row_tree p(toy_rows(row_kind::random, 5, 13)), q(toy_rows(row_kind::random, 5, 14));
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 1});
    std::size_t kept = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const coupled_coin coin(two.keys, seed);
        auto words = model_of<target_id, toy_tree_model<target_id>>(p);
        auto pieces = model_of<draft_id, toy_tree_model<draft_id>>(q);
        model_drafter drafter(pieces);
        session alone(no_bridge{}, coupled_match(two.keys), session_settings{.capacity = 32});
        session trees(
            tli_tree_bridge<target_words, draft_words>(tli_map(two.map), two.context(), {}),
            coupled_tree_match(two.keys), session_settings{.capacity = 32});
        alone.start(std::vector{target_id{0}});
        trees.start(std::vector{target_id{0}});
        while (trees.tokens().size() < 12)
            trees.commit(trees.round(words, drafter, shape, coin, 4).tokens.size(), drafter);
        words.truncate(0);
        while (alone.tokens().size() < trees.tokens().size())
            alone.commit(alone.round(words, drafter, fixed_length{0}, coin, 1).tokens.size());
        kept += trees.counts().accepted;
        CAPTURE(seed);
        REQUIRE(values_of(trees.tokens()) == values_of(alone.tokens()));
    }
    CHECK(kept > 50);
}

namespace {

// 26 degrees of freedom, an error of total variation 0.02 found with power 0.99 at a significance
// of 1e-6: 58,000 samples.
constexpr std::size_t coupled_samples = 58'000;
constexpr double critical_in_a_million = 75.6;

/// Chi-square of three tokens decoded with the coupled coin of one seed, a sequence a text.
template <class Tokenizer, class Bridge>
double sampled_chi_square(const Tokenizer& tokenizer, const text_keys& keys, Bridge bridge,
                          std::size_t gamma, std::uint64_t seed) {
    row_tree p(toy_rows(row_kind::random, 3, 11)), q(toy_rows(row_kind::random, 3, 12));
    auto words = model_of<target_id>(p);
    auto pieces = model_of<draft_id>(q);
    model_drafter drafter(pieces);
    session decoder(std::move(bridge), coupled_match(keys), session_settings{.capacity = 16});
    REQUIRE(tokenizer.vocabulary_size() == 3);
    const std::vector prompt{target_id{0}};
    const std::vector prefix{draft_id{0}};
    joint_law counts;
    for (std::size_t i = 0; i < coupled_samples; ++i) {
        const coupled_coin coin(keys, seed, i);
        decoder.start(prompt, prefix);
        sequence text;
        while (text.size() < 3) {
            const round_result round =
                decoder.round(words, drafter, fixed_length{gamma}, coin, 3 - text.size());
            for (const target_id t : round.tokens)
                text.push_back(t.value);
            decoder.commit(round.tokens.size());
        }
        counts[text] += 1;
    }
    const joint_law law = target_alone(p, 3);
    REQUIRE(law.size() == 27);
    return chi_square(counts, law, coupled_samples);
}

struct three_tokens {
    target_words target;
    draft_words draft;
    std::vector<const char*> joined{}; // names of control tokens
    id_map map = intersect(draft.table(), target.table(), [this] {
        equivalences same;
        for (const char* const name : joined)
            same.add(name, name);
        return same;
    }());
    text_keys keys{target, map};

    void check_alone(std::uint64_t seed) const {
        const text_keys without_drafter(target);
        CHECK(sampled_chi_square(target, without_drafter, no_bridge{}, 0, seed) <
              critical_in_a_million);
    }
    void check_tli(std::uint64_t seed) const {
        const tli_bridge<target_words, draft_words> bridge(
            tli_map(map), words_context(target, draft, map, 16), 2);
        CHECK(sampled_chi_square(target, keys, bridge, 2, seed) < critical_in_a_million);
    }
    void check_spelling(std::uint64_t seed) const {
        const canonical_spellings spellings(target, draft, map);
        const spelling_bridge bridge(spellings, words_context(target, draft, map, 16), 16,
                                     {.max_draft = 2});
        CHECK(sampled_chi_square(target, keys, bridge, 2, seed) < critical_in_a_million);
    }
    void check_slem(std::uint64_t seed) const {
        const slem_bridge bridge(target, draft, map, 16, 2);
        CHECK(sampled_chi_square(target, keys, bridge, 2, seed) < critical_in_a_million);
    }
};

} // namespace

TEST_CASE("coupled texts follow the target's law: letters of several widths", "[law][computes]") {
    const three_tokens three{target_words{{"a", "b", "bab"}}, draft_words{{"b", "a", "bb"}}};
    three.check_tli(1);
}

TEST_CASE("coupled texts follow the target's law: drafts of text", "[law][computes]") {
    const three_tokens three{target_words{{"a", "b", "bab"}}, draft_words{{"b", "a", "bb"}}};
    three.check_slem(2);
    three.check_spelling(5);
}

TEST_CASE("coupled texts follow the target's law: control tokens, alone", "[law][computes]") {
    three_tokens{target_words{{"a", "<x>", "<y>"}}, draft_words{{"a"}}}.check_alone(10);
}

TEST_CASE("coupled texts follow the target's law: control tokens inside the text",
          "[law][computes]") {
    const three_tokens three{
        target_words{{"a", "<x>", "<y>"}}, draft_words{{"<x>", "a", "aa"}}, {"<x>"}};
    three.check_tli(11);
}

TEST_CASE("coupled texts follow the target's law: ids of equal bytes", "[law][computes]") {
    const three_tokens three{target_words{{"a", "b", "a"}}, draft_words{{"a", "a", "b"}}};
    three.check_tli(20);
}
