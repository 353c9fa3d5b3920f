// SPDX-License-Identifier: MIT
// Coupled sampling through session and generate: the text of a seed is the target's own, byte for
// byte, with any drafter, bridge, draft length and stop rule, and none, at any sampling parameters;
// and it accepts about as often as token rejection.
#include <specdec/verify/coupled_match.hpp>

#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/spelling.hpp>
#include <specdec/sampling/coin/coupled_coin.hpp>

#include "support/decoding.hpp"
#include "support/toy_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace coupled_tests {

constexpr std::size_t length = 20, capacity = 128;

/// Two tokenizers with their models: prompts, rows and all that a decode needs.
template <class TargetTokenizer, class DraftTokenizer>
struct world {
    TargetTokenizer target;
    DraftTokenizer draft;
    id_map map;
    std::vector<target_id> prompt;
    std::vector<draft_id> prefix;
    double control;
    double agreement = 0.8;
    text_keys keys{target, map};
    canonical_spellings spellings{target, draft, map};

    [[nodiscard]] text_model<target_id> target_model() const {
        return {target.table(),
                {.seed = 1, .agreement = agreement, .control = control, .capacity = capacity}};
    }
    [[nodiscard]] text_model<draft_id> draft_model() const {
        return {draft.table(),
                {.seed = 2, .agreement = agreement, .control = control, .capacity = capacity}};
    }

    using context = retokenised_context<TargetTokenizer, DraftTokenizer>;
    template <class F>
    void for_every_bridge(F&& f) const {
        f("tli", tli_bridge<TargetTokenizer, DraftTokenizer>(
                     tli_map(map), context(target, draft, map, capacity), 5));
        f("union", union_bridge<TargetTokenizer, DraftTokenizer>(
                       union_map(map), context(target, draft, map, capacity), 5));
        f("slem", slem_bridge(target, draft, map, capacity, 5));
        f("spelling", spelling_bridge(spellings, context(target, draft, map, capacity),
                                      2 * capacity, {.max_draft = 5}));
    }
};

/// Control tokens come up in the middle of the text; both sides have ids of equal bytes.
auto words_world() {
    target_words target{{"<end>", "a", "b", "c", " ", "ab", " a", "<mark>", "abc", "a", "<on>"}};
    draft_words draft{{"<bos>", "a", " ", "ba", "c", "b", "<stop>", " a", "ca", "a", "<go>"}};
    equivalences same;
    same.add("<stop>", "<end>");
    same.add("<go>", "<on>");
    id_map map = intersect(draft.table(), target.table(), same);
    std::vector<target_id> prompt = encoded(target, "ab c a");
    return world<target_words, draft_words>{std::move(target), std::move(draft), std::move(map),
                                            std::move(prompt), {draft_id{0}},    2.5};
}

/// Byte-level BPE with pre-tokens against BPE over characters with byte tokens, whose letters are
/// there twice.
auto bpe_world() {
    using test::toy_bpe;
    const std::string text = "the cat sat on the mat and the hat that the rat ate at ten";
    toy_bpe<target_id> target(test::learn_merges(text, 40));
    toy_bpe<draft_id> draft(test::learn_merges(text, 50, false),
                            {.pre_tokens = false, .characters = true});
    id_map map = intersect(draft.table(), target.table());
    std::vector<target_id> prompt = encoded(target, "the cat");
    return world<toy_bpe<target_id>, toy_bpe<draft_id>>{
        std::move(target), std::move(draft), std::move(map), std::move(prompt), {}, -40};
}

/// The tokens of the target alone: a plain loop over its rows that counts bytes by itself.
template <class World>
std::vector<target_id> alone(const World& w, const sampling_parameters& parameters,
                             const coupled_coin& coin) {
    auto model = w.target_model();
    std::vector<target_id> text = w.prompt;
    while (text.size() < w.prompt.size() + length) {
        std::uint64_t place = 0;
        for (const target_id t : text)
            place += w.target.bytes(t).empty() ? 1 : w.target.bytes(t).size();
        model.truncate(0);
        const logits_rows<target_id> rows = model.score(text);
        text.push_back(coin.pick({text.size(), purpose::target, 0, place},
                                 make_law(rows[rows.size() - 1], parameters)));
    }
    return {text.begin() + static_cast<std::ptrdiff_t>(w.prompt.size()), text.end()};
}

template <class World, class B, class V, class Stop, class C>
std::vector<target_id> decoded(const World& w, B bridge, V rule, const Stop& stop, C coin,
                               const sampling_parameters& parameters,
                               statistics* counts = nullptr) {
    auto target = w.target_model();
    auto draft = w.draft_model();
    model_drafter drafter(draft);
    session decoder(std::move(bridge), rule,
                    {.target = parameters,
                     .draft = parameters,
                     .capacity = capacity,
                     .end_ids = {target_id{0}}});
    decoder.start(w.prompt, w.prefix);
    auto tokens = play(decoder, target, drafter, stop, coin, length);
    if (counts != nullptr)
        *counts = decoder.counts();
    return tokens;
}

/// One vocabulary, the drafter's model padded and of another opinion.
template <class World>
std::vector<target_id> decoded_by_identity(const World& w, std::size_t gamma,
                                           const coupled_coin& coin,
                                           const sampling_parameters& parameters) {
    vocabulary padded = w.target.table();
    padded.add("never", token_kind::normal);
    auto target = w.target_model();
    text_model<draft_id> draft(padded, {.seed = 2, .agreement = 0.8, .control = w.control});
    model_drafter drafter(draft);
    const std::size_t size = w.target.table().size();
    session decoder(make_identity_bridge(size + 1, size, capacity, 5), coupled_match(w.keys),
                    {.target = parameters, .draft = parameters, .capacity = capacity});
    decoder.start(w.prompt);
    return play(decoder, target, drafter, fixed_length{gamma}, coin, length);
}

template <class World>
text_keys identity_keys(const World& w) {
    const std::size_t size = w.target.table().size();
    return text_keys(w.target, identity_map(size + 1, size));
}

const std::vector<sampling_parameters> all_parameters{{.temperature = 0.5F}, {.temperature = 1},
                                                      {.temperature = 1.5F}, {.top_k = 4},
                                                      {.top_p = 0.8F},       {.temperature = 0.0F}};

template <class World>
void check_same_text(const World& w, std::uint64_t seeds) {
    const text_keys without_drafter(w.target);
    const text_keys with_itself = identity_keys(w);
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
        for (const sampling_parameters& parameters : all_parameters) {
            CAPTURE(seed, parameters.temperature, parameters.top_k, parameters.top_p);
            const coupled_coin coin(w.keys, seed, 5), bare(without_drafter, seed, 5);
            const auto expected = alone(w, parameters, bare);
            REQUIRE(decoded(w, no_bridge{}, coupled_match(without_drafter), fixed_length{}, bare,
                            parameters) == expected);
            for (const std::size_t gamma : {0U, 1U, 3U, 5U}) {
                w.for_every_bridge([&](const char* name, auto bridge) {
                    CAPTURE(name, gamma);
                    REQUIRE(decoded(w, bridge, coupled_match(w.keys), fixed_length{gamma}, coin,
                                    parameters) == expected);
                    REQUIRE(decoded(w, bridge, coupled_match(w.keys), confidence{0.3, gamma}, coin,
                                    parameters) == expected);
                });
                REQUIRE(decoded_by_identity(w, gamma, coupled_coin(with_itself, seed, 5),
                                            parameters) == expected);
            }
        }
}

TEST_CASE("200 seeds: one text with every bridge, draft length and stop rule, and none",
          "[computes]") {
    check_same_text(words_world(), 200);
}

TEST_CASE("one text over byte-pair tokenizers with equal ids", "[computes]") {
    check_same_text(bpe_world(), 8);
}

TEST_CASE("the texts of the test are not trivial") {
    const auto w = words_world();
    std::size_t control = 0, second_a = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto text = alone(w, {}, coupled_coin(w.keys, seed));
        for (const target_id t : text) {
            control += w.target.bytes(t).empty() ? 1U : 0U;
            second_a += t == target_id{9} ? 1U : 0U;
        }
        CHECK(text != alone(w, {}, coupled_coin(w.keys, seed, 1)));
        CHECK(text != alone(w, {}, coupled_coin(w.keys, seed + 50)));
    }
    CHECK(control > 50);
    CHECK(second_a > 20);
}

/// Shares of the evaluated proposals that were kept, over many seeds.
template <class World, class MakeBridge, class Decode>
double acceptance(const World& w, MakeBridge make, Decode decode) {
    double evaluated = 0, accepted = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        statistics counts;
        decode(w, make(w), seed, counts);
        evaluated += static_cast<double>(counts.evaluated);
        accepted += static_cast<double>(counts.accepted);
    }
    return accepted / evaluated;
}

const auto coupled = [](const auto& w, auto bridge, std::uint64_t seed, statistics& counts) {
    (void)decoded(w, bridge, coupled_match(w.keys), fixed_length{3}, coupled_coin(w.keys, seed), {},
                  &counts);
};
const auto rejecting = [](const auto& w, auto bridge, std::uint64_t seed, statistics& counts) {
    (void)decoded(w, bridge, token_rejection{}, fixed_length{3}, philox_coin(seed), {}, &counts);
};
const auto matching = [](const auto& w, auto bridge, std::uint64_t seed, statistics& counts) {
    (void)decoded(w, bridge, exact_match{}, fixed_length{3}, philox_coin(seed), {}, &counts);
};

const auto tli_of = [](const auto& w) {
    using context = typename std::remove_cvref_t<decltype(w)>::context;
    return token_bridge<context, tli_map>(tli_map(w.map),
                                          context(w.target, w.draft, w.map, capacity), 5);
};
const auto spelling_of = [](const auto& w) {
    using context = typename std::remove_cvref_t<decltype(w)>::context;
    return spelling_bridge(w.spellings, context(w.target, w.draft, w.map, capacity), 2 * capacity,
                           {.max_draft = 5});
};
const auto slem_of = [](const auto& w) {
    return slem_bridge(w.target, w.draft, w.map, capacity, 5);
};

template <class World>
void check_acceptance(World w, bool near) {
    for (const double agreement : {0.6, 0.9, 1.0}) {
        w.agreement = agreement;
        const double rejection = acceptance(w, tli_of, rejecting); // the mean of 1 - TV
        const double coupling = acceptance(w, tli_of, coupled);
        CAPTURE(agreement, rejection, coupling);
        CHECK(coupling > rejection / (2 - rejection)); // (1 - TV) / (1 + TV), convex
        CHECK(coupling > acceptance(w, tli_of, matching) + 0.1);
        CHECK(acceptance(w, spelling_of, coupled) > coupling);
        CHECK(acceptance(w, slem_of, coupled) > acceptance(w, slem_of, matching) + 0.1);
        if (near && agreement > 0.85)
            CHECK(coupling > rejection - 0.05);
    }
}

TEST_CASE("coupled intersection accepts about as often as token rejection, words", "[computes]") {
    check_acceptance(words_world(), false); // much of q lies on duplicates
}

TEST_CASE("coupled intersection accepts about as often as token rejection, byte pairs",
          "[computes]") {
    check_acceptance(bpe_world(), true);
}

TEST_CASE("models that agree are accepted to the end of the draft: every token has its place") {
    // One tokenizer on both sides, one model: whatever is drafted is what the target draws.
    const target_words target{{"<end>", "a", "b", "c", " ", "ab", "<mark>", "abc"}};
    const draft_words draft{{"<end>", "a", "b", "c", " ", "ab", "<mark>", "abc"}};
    const text_keys keys(target, identity_map(8, 8));
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        text_model<target_id> large(target.table(), {.control = 3});
        text_model<draft_id> small(draft.table(), {.control = 3});
        model_drafter drafter(small);
        session decoder(make_identity_bridge(8, 8, capacity, 5), coupled_match(keys),
                        {.capacity = capacity});
        decoder.start(std::vector{target_id{1}});
        const coupled_coin coin(keys, seed);
        (void)play(decoder, large, drafter, fixed_length{5}, coin, 60);
        CHECK(decoder.counts().accepted == decoder.counts().evaluated);
        CHECK(decoder.counts().accepted == 50);
    }
}

TEST_CASE("abandoned rounds, partial commits and a second text leave the text as it is") {
    const auto w = words_world();
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const coupled_coin coin(w.keys, seed);
        const auto expected = alone(w, {}, coin);
        w.for_every_bridge([&](const char* name, auto bridge) {
            CAPTURE(seed, name);
            auto target = w.target_model();
            auto draft = w.draft_model();
            model_drafter drafter(draft);
            session decoder(bridge, coupled_match(w.keys), {.capacity = capacity});
            decoder.start(w.prompt, w.prefix);
            std::mt19937_64 random(seed);
            for (int text = 0; text < 2; ++text) {
                while (decoder.tokens().size() < w.prompt.size() + length) {
                    const std::size_t left = w.prompt.size() + length - decoder.tokens().size();
                    const fixed_length stop{static_cast<std::size_t>(random() % 6)};
                    if (random() % 3 == 0) // given up behind the draft
                        decoder.draft(drafter, stop, coin, left);
                    if (random() % 3 == 0) // given up behind the verdict
                        (void)decoder.round(target, drafter, stop, coin, left);
                    const round_result r = decoder.round(target, drafter, stop, coin, left);
                    decoder.commit(static_cast<std::size_t>(random() % (r.tokens.size() + 1)));
                }
                const auto tokens = decoder.tokens().subspan(w.prompt.size());
                REQUIRE(std::vector<target_id>(tokens.begin(), tokens.end()) == expected);
                decoder.start(w.prompt, w.prefix);
            }
        });
    }
}

} // namespace coupled_tests
