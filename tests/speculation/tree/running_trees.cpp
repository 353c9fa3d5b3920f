// SPDX-License-Identifier: MIT
// Texts whose drafts are trees, through speculation: alone and side by side.
#include <specdec/speculation/running_sequence.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/text_model.hpp"
#include "support/weighted_pair.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace running_trees_tests {

decode_settings with(rule how, tree_drafts tree, float temperature, std::uint64_t seed = 0) {
    decode_settings s{.rule = how, .tree = std::move(tree), .seed = seed};
    s.sampling.temperature = temperature;
    s.limits.max_tokens = 30;
    return s;
}

const std::vector<tree_drafts> shapes{
    {.nodes = 1, .costs = cost_table{}},
    {.nodes = 6, .costs = cost_table{}},
    {.nodes = 6, .growth = tree_growth::dynamic},
    {.nodes = 6, .growth = tree_growth::budgeted},
    {.nodes = 6, .growth = tree_growth::fixed},
    {.widths = {3, 2, 1}},
    {.widths = {2}, .siblings = sibling_draw::independent},
    {.nodes = 12, .siblings = sibling_draw::likeliest, .costs = cost_table{}}};

TEST_CASE("trees: greedy text is the target's own under every rule that drafts them") {
    for (const bool equal : {true, false}) {
        weighted_pair toys(equal);
        const decode_result alone = toys.pair.generate("ab", with(rule::autoregressive, {}, 0));
        for (const named_rule& r : rules)
            for (const tree_drafts& tree : shapes) {
                if (!can_draft_trees(r.rule) || !toys.pair.applies(r.rule))
                    continue;
                CAPTURE(std::string(r.name), tree.nodes, tree.widths.size());
                const decode_result text = toys.pair.generate("ab", with(r.rule, tree, 0));
                CHECK(text.text == alone.text);
                CHECK(text.finish == alone.finish);
                CHECK(text.counts.proposed > 0);
                CHECK(text.counts.rounds < alone.counts.rounds);
            }
    }
}

TEST_CASE("trees: texts side by side are those alone, whatever is looked up beside") {
    weighted_pair toys(false);
    const auto sides = [&](std::size_t n, const auto& use) {
        batch_of<target_id, weighted_model<target_id>> target(n, toys.target);
        batch_of<draft_id, weighted_model<draft_id>> draft(n, toys.drafter);
        speculation pair({.models = target, .tokenizer = toys.words},
                         {.models = draft, .tokenizer = toys.draft_words});
        use(pair);
    };
    std::vector<std::vector<target_id>> prompts;
    for (const char* text : {"abcabcaabcabca", "ca", "bbabb"})
        toys.words.encode(text, encode_mode::start, prompts.emplace_back());
    std::size_t found = 0;
    for (const rule how : {rule::tli, rule::tli_block, rule::slem, rule::coupled, rule::recycling})
        for (const tree_drafts& tree : shapes)
            for (const bool beside : {false, true}) {
                if (beside && !takes_drafter(how))
                    continue;
                CAPTURE(std::string(about(how).name), tree.nodes, tree.widths.size(), beside);
                decode_settings s = with(how, tree, 1);
                s.lookup = {.beside = beside, .shared = false};
                s.lengths.costs = cost_table{{1, 1.05, 1.1, 1.15, 1.2}, 0.1, 0.01};
                s.carry = reuse_settings::nothing();
                std::vector<text_request> texts;
                for (std::size_t i = 0; i < prompts.size(); ++i)
                    texts.push_back({.prompt = prompts[i], .sequence = i});
                std::vector<std::vector<target_id>> apart;
                sides(1, [&](speculation& pair) {
                    for (const text_request& one : texts)
                        apart.push_back(pair.run({&one, 1}, s).texts[0].tokens);
                });
                sides(texts.size(), [&](speculation& pair) {
                    const decode_results all = pair.run(texts, s);
                    for (std::size_t i = 0; i < texts.size(); ++i) {
                        CHECK(all.texts[i].tokens == apart[i]);
                        found += all.texts[i].counts.looked_up;
                    }
                });
            }
    CHECK(found > 0);
}

TEST_CASE("trees of recycled tokens give the text of a seed, without a drafter, too") {
    weighted_pair toys(false);
    speculation alone({.models = toys.target, .tokenizer = toys.words});
    for (std::uint64_t seed = 0; seed < 4; ++seed)
        for (const bool noise : {false, true})
            for (const tree_drafts& tree : shapes) {
                decode_settings s = with(rule::recycling, tree, 1, seed);
                s.shared_noise = noise;
                const decode_result text = alone.generate("ca", s);
                CHECK(text.counts.proposed > 0);
                CHECK(toys.pair.generate("ca", s).tokens == text.tokens);
                s.rule = rule::autoregressive;
                CHECK(alone.generate("ca", s).tokens == text.tokens);
            }
}

TEST_CASE("trees: rules that draw the target's own tokens give the text of a seed") {
    weighted_pair toys(false);
    for (std::uint64_t seed = 0; seed < 4; ++seed)
        for (const tree_drafts& tree : shapes) {
            const decode_result alone =
                toys.pair.generate("ca", with(rule::autoregressive, {}, 1, seed));
            for (const rule how : {rule::tli_exact, rule::slem})
                CHECK(toys.pair.generate("ca", with(how, tree, 1, seed)).tokens == alone.tokens);
            decode_settings noise = with(rule::autoregressive, {}, 1, seed);
            noise.shared_noise = true;
            for (const rule how : {rule::coupled, rule::coupled_slem})
                CHECK(toys.pair.generate("ca", with(how, tree, 1, seed)).tokens ==
                      toys.pair.generate("ca", noise).tokens);
        }
}

/// Trees without branches give what chains give.
void check_chains(weighted_pair& toys, std::initializer_list<rule> rules) {
    for (std::uint64_t seed = 0; seed < 4; ++seed)
        for (const rule how : rules) {
            decode_settings chain = with(how, {}, 1, seed);
            chain.tree.reset();
            chain.lengths = {.kind = length_kind::fixed, .length = 3};
            const decode_result one = toys.pair.generate("ab", chain);
            const decode_result tree =
                toys.pair.generate("ab", with(how, {.widths = {1, 1, 1}}, 1, seed));
            CHECK(tree.tokens == one.tokens);
            CHECK(tree.counts.rounds == one.counts.rounds);
            CHECK(tree.counts.accepted == one.counts.accepted);
        }
}

TEST_CASE("trees: a tree without branches is the chain, token for token") {
    weighted_pair toys(true);
    check_chains(toys, {rule::identity, rule::identity_block});
}

TEST_CASE("trees: a tree of text without branches is the chain of text, token for token") {
    weighted_pair toys(false);
    check_chains(toys, {rule::slem, rule::coupled_slem});
}

TEST_CASE("trees: what cannot draft them says so, with the rule and what it lacks") {
    weighted_pair toys(true);
    CHECK_THROWS_WITH(toys.pair.generate("a", with(rule::slrs, {}, 0)),
                      Contains("tree: slrs: expected identity"));
    CHECK_THROWS_WITH(toys.pair.generate("a", with(rule::identity, {.nodes = 0}, 0)),
                      Contains("tree: nodes"));
    CHECK(toys.pair.generate("a", with(rule::lookup, {}, 0)).counts.rounds > 0);
    CHECK_THAT(toys.pair.explain(with(rule::identity, {.nodes = 5}, 0)),
               Contains("trees of at most 5 tokens"));
    CHECK_THAT(toys.pair.explain(with(rule::slrs, {}, 0)), Contains("does not draft trees"));

    text_model<target_id> plain(toys.words.table());
    speculation chains({.models = plain, .tokenizer = toys.words},
                       {.models = toys.drafter, .tokenizer = toys.draft_words});
    CHECK_THROWS_WITH(chains.generate("a", with(rule::identity, {}, 0)),
                      Contains("tree: target: expected a model that scores trees"));
}

TEST_CASE("trees: texts that take turns with a sequence, equally long, are those alone") {
    weighted_pair toys(false);
    batch_of<draft_id, weighted_model<draft_id>> drafters(2, toys.drafter);
    speculation pair({.models = toys.target, .tokenizer = toys.words},
                     {.models = drafters, .tokenizer = toys.draft_words});
    const auto open = [&](const char* prompt, std::vector<std::size_t> widths) {
        std::vector<target_id> ids;
        toys.words.encode(prompt, encode_mode::start, ids);
        return pair.open({.prompt = ids}, with(rule::tli, {.widths = std::move(widths)}, 1, 5));
    };
    const auto alone = [&](const char* prompt, std::vector<std::size_t> widths) {
        const auto text = open(prompt, std::move(widths));
        while (advance(*text, pair.target_models())) {
        }
        return text->result().tokens;
    };
    for (const char* second : {"cbc", "bcb"}) { // or the same: they hold the same tokens, too
        const auto wide = alone("bcb", {3, 2, 2}), narrow = alone(second, {1});
        const auto one = open("bcb", {3, 2, 2}), other = open(second, {1});
        for (bool more = true; more;) {
            more = advance(*one, pair.target_models());
            more = advance(*other, pair.target_models()) || more;
        }
        CHECK(one->result().tokens == wide);
        CHECK(other->result().tokens == narrow);
    }
    // A driver that leaves a tree's path to the next round, when the other has used the sequence.
    speculative_text::target_sequence own(pair.target_models(), 0);
    const auto late = [&](speculative_text& text) {
        const std::size_t capacity = own.capacity();
        if (!text.more(capacity) || ((void)text.prepare(own), !text.draft(capacity)))
            return false;
        const context_edit<target_id> edit = text.prepare(own);
        const auto rows = own.score_tree(edit.nodes, edit.parents);
        text.target_fed(edit);
        text.decide(rows);
        text.commit();
        return true;
    };
    const auto wide = alone("bcb", {3, 2, 2}), narrow = alone("cbc", {1});
    const auto one = open("bcb", {3, 2, 2}), other = open("cbc", {1});
    for (bool more = true; more;) {
        more = late(*one);
        more = late(*other) || more;
    }
    CHECK(one->result().tokens == wide);
    CHECK(other->result().tokens == narrow);
}

TEST_CASE("trees: a path left to the next round is not kept of another text's tree") {
    // The texts of run() leave as many tokens, and the same, but a tree of their own behind them.
    weighted_pair toys(false);
    batch_of<draft_id, weighted_model<draft_id>> drafters(2, toys.drafter);
    std::vector<target_id> prompt;
    toys.words.encode("bcbca", encode_mode::start, prompt);
    const decode_settings s = with(rule::tli, {.widths = {2, 2}}, 1, 5);
    std::size_t kept = 0;
    for (std::uint64_t sequence = 0; sequence < 12; ++sequence) {
        speculation pair({.models = toys.target, .tokenizer = toys.words},
                         {.models = drafters, .tokenizer = toys.draft_words});
        const text_request request{.prompt = prompt, .sequence = sequence};
        const std::vector<target_id> alone = pair.run({&request, 1}, s).texts[0].tokens;
        const auto text = pair.open(request, s);
        speculative_text::target_sequence own(pair.target_models(), 0);
        bool first = true;
        for (const std::size_t capacity = own.capacity(); text->more(capacity);) {
            (void)text->prepare(own);
            if (!text->draft(capacity))
                break;
            const context_edit<target_id> edit = text->prepare(own);
            const auto rows = own.score_tree(edit.nodes, edit.parents);
            text->target_fed(edit);
            text->decide(rows);
            text->commit(); // whose path is kept by the next prepare()
            kept += text->nodes_to_keep().size();
            if (!std::exchange(first, false))
                continue;
            decode_settings one = s;
            one.limits.max_tokens = 1;
            const text_request other{.prompt = prompt, .sequence = 100 + sequence};
            (void)pair.run({&other, 1}, one);
        }
        CAPTURE(sequence);
        CHECK(text->result().tokens == alone);
    }
    CHECK(kept > 12);
}

TEST_CASE("trees: in a drafter's context that has little room for them they end a level before") {
    weighted_pair toys(false);
    for (const std::size_t context : std::vector<std::size_t>{4, 6, 9, 14, 30}) {
        weighted_model<draft_id> small{weighted_draft_rows, toys.others.size(), context};
        speculation pair({.models = toys.target, .tokenizer = toys.words},
                         {.models = small, .tokenizer = toys.draft_words});
        for (const rule how : {rule::tli_exact, rule::slem})
            for (const tree_drafts& tree : shapes)
                for (const bool processed : {false, true}) {
                    const decode_settings s = with(how, tree, 1, 7);
                    std::vector<target_id> prompt;
                    toys.words.encode("abcabcaabcb", encode_mode::start, prompt);
                    text_request request{.prompt = prompt};
                    if (processed)
                        request.process_draft = [](std::span<const draft_id>, std::span<float>) {};
                    const decode_result text = pair.run({&request, 1}, s).texts[0];
                    decode_settings alone = s;
                    alone.rule = rule::autoregressive;
                    CHECK(text.tokens == toys.pair.run({&request, 1}, alone).texts[0].tokens);
                    CHECK(text.counts.proposed > 0);
                }
    }
}

TEST_CASE("trees: a text goes on from the shape of the text before it, under the same settings") {
    tree_drafts tree{.nodes = 6, .costs = cost_table{{1, 1.05, 1.1, 1.15, 1.2}, 0.1}};
    for (const float temperature : {0.0F, 1.0F}) {
        weighted_pair carried(true), alone(true), other(true);
        decode_settings s = with(rule::identity, tree, temperature, 3);
        const auto proposed_of = [&](weighted_pair& toys, std::size_t texts) {
            std::vector<std::uint64_t> proposed;
            for (std::size_t i = 0; i < texts; ++i)
                proposed.push_back(toys.pair.generate("ab", s).counts.proposed);
            return proposed;
        };
        const auto learnt = proposed_of(carried, 6);
        CHECK(learnt.back() != learnt.front());
        s.carry.lengths = false;
        const auto first = proposed_of(alone, 6);
        CHECK(std::vector<std::uint64_t>(6, learnt.front()) == first);
        s.carry.lengths = true;
        s.tree->nodes = 5; // another shape
        (void)proposed_of(other, 6);
        s.tree->nodes = 6;
        CHECK(proposed_of(other, 1).front() == learnt.front());
    }
}

} // namespace running_trees_tests
