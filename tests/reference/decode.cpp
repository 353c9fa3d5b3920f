// SPDX-License-Identifier: MIT
// Whole requests on reference transformers, through `speculation`.
#include <specdec/reference/transformer_batch.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "reference/toy_weights.hpp"
#include "support/toys/piece_tokenizer.hpp"
#include <specdec/reference/transformer_model.hpp>
#include <specdec/speculation/speculation.hpp>

namespace decode_tests {

using namespace specdec;
using namespace specdec::testing;

/// The letters a to t, and pairs of them that are `step` apart.
std::vector<std::string> pieces(std::size_t n, int step) {
    std::vector<std::string> out;
    for (char c = 'a'; c <= 't'; ++c)
        out.emplace_back(1, c);
    for (char c = 'a'; out.size() < n; ++c)
        out.push_back({c, static_cast<char>(c + step)});
    return out;
}

decode_settings greedy(rule how) {
    return {.rule = how,
            .sampling = {.temperature = 0},
            .lengths = {.kind = length_kind::fixed, .length = 3},
            .limits = {.max_tokens = 30}};
}

TEST_CASE(
    "a drafter with another tokenizer leaves a reference transformer's greedy text as it is") {
    reference::transformer_config small = toy_config();
    small.vocabulary_size = 30;
    reference::transformer_model<target_id, double> target(toy_weights());
    reference::transformer_model<draft_id, float> draft(toy_weights<float>(small, 2));
    const piece_tokenizer<target_id> words(pieces(37, 1));
    const piece_tokenizer<draft_id> others(pieces(30, 2));
    speculation pair({target, words}, {draft, others});
    for (const std::string prompt : {"a", "test", "legs"}) {
        const decode_result alone = pair.generate(prompt, greedy(rule::autoregressive));
        REQUIRE(alone.text.size() >= 30);
        for (const rule how : {rule::slem, rule::tli, rule::slrs}) {
            const decode_result drafted = pair.generate(prompt, greedy(how));
            CHECK(drafted.text == alone.text);
            CHECK(drafted.counts.proposed > 0);
        }
    }
}

TEST_CASE("a target as its own drafter accepts every proposal, in chains and trees, side by side") {
    const auto weights = toy_weights();
    reference::transformer_batch<target_id, double> target(weights, {.sequences = 2});
    reference::transformer_batch<draft_id, double> draft(weights, {.sequences = 2});
    const piece_tokenizer<target_id> words(pieces(37, 1));
    const piece_tokenizer<draft_id> same(pieces(37, 1));
    speculation pair({.models = target, .tokenizer = words}, {.models = draft, .tokenizer = same});
    std::vector<target_id> one, two;
    words.encode("test", encode_mode::start, one);
    words.encode("legs", encode_mode::start, two);
    const std::vector<text_request> texts{{.prompt = one, .sequence = 1},
                                          {.prompt = two, .sequence = 2}};
    const auto alone = pair.run(texts, greedy(rule::autoregressive));
    const auto chains = pair.run(texts, greedy(rule::identity));
    decode_settings branching = greedy(rule::identity);
    branching.tree = {.widths = {3, 2, 1}};
    const auto trees = pair.run(texts, branching);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CHECK(chains.texts[i].tokens == alone.texts[i].tokens);
        CHECK(trees.texts[i].tokens == alone.texts[i].tokens);
        CHECK(chains.texts[i].counts.conditional_acceptance_rate() == 1);
        CHECK(chains.texts[i].counts.tokens_per_target_call() > 3);
        CHECK(trees.texts[i].counts.tokens_per_target_call() > 3);
    }
}

} // namespace decode_tests
