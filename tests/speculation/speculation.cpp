// SPDX-License-Identifier: MIT
#include <specdec/speculation/speculation.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tli.hpp>
#include <specdec/decode/generate.hpp>

#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

TEST_CASE("speculation: every rule by name gives the target's greedy text") {
    toys x;
    speculation pair = x.pair();
    const decode_result plain = pair.generate("ab c", fixed(rule::autoregressive, 0));
    CHECK(plain.tokens.size() == 40);
    CHECK(plain.finish == finish_reason::max_tokens);
    CHECK(plain.text == text_of(x.words.target, plain.tokens));
    for (const named_rule& r : rules) {
        if (takes_equal_vocabularies(r.rule))
            continue;
        INFO(r.name);
        const decode_result text = pair.generate("ab c", fixed(r.rule, 0));
        CHECK(text.tokens == plain.tokens);
        CHECK(text.text == plain.text);
        if (takes_drafter(r.rule))
            CHECK(text.counts.accepted > 0);
    }
}

TEST_CASE("speculation: a text is that of the session it is made of, to the bit") {
    toys x;
    speculation pair = x.pair();
    const auto check = [&](rule how, auto bridge, auto verifier, auto coin, std::uint64_t seed,
                           std::size_t draft) {
        target_model target(x.words.target.table());
        draft_model model(x.words.draft.table(), {.seed = 2});
        model_drafter drafter(model);
        session by_hand(std::move(bridge), verifier,
                        {.capacity = 512,
                         .max_proposals = by_target_tokens(how) ? 3U : 16U,
                         .end_ids = {toy_pair::end}});
        by_hand.start(x.words.encode("ab c"), std::vector{toy_pair::bos});
        std::string written;
        generate(by_hand, target, drafter, fixed_length{draft}, coin, x.words.target, {40, {}},
                 text_reader([&](std::string_view bytes, token_origin) { written += bytes; }));
        const decode_result text = pair.generate("ab c", fixed(how, 1, seed));
        INFO(about(how).name);
        CHECK(text.text == written);
        CHECK(text.counts.proposed == by_hand.counts().proposed);
    };
    const text_keys keys(x.words.target, x.words.map);
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const philox_coin coin(seed, 0);
        check(rule::tli, x.words.tli(3), token_rejection{}, coin, seed, 3);
        check(rule::nested_block, x.words.nested(3), block_verification{}, coin, seed, 3);
        check(rule::coupled, x.words.tli(3), coupled_match(keys), coupled_coin(keys, seed, 0), seed,
              3);
        check(rule::slrs,
              make_slrs_bridge(x.words.target, x.words.draft, x.words.map, x.words.order,
                               x.words.edges, 512, {16, 0.02}),
              token_rejection{}, coin, seed, 16);
    }
}

TEST_CASE("speculation: the rule is the usual one, or the one that is named") {
    toys x;
    const speculation pair = x.pair();
    CHECK(pair.rule_for(fixed({}, 0)) == rule::slem);
    CHECK(pair.rule_for(fixed({}, 1)) == rule::tli_block);
    CHECK(pair.rule_for(fixed(rule::slrs, 1)) == rule::slrs);
    CHECK(default_acceptance(rule::slem, 1) <
          default_acceptance(rule::tli, 1)); // words that come out twice
    const speculation alone(x.target_side());
    CHECK(alone.rule_for(fixed({}, 1)) == rule::lookup);
    CHECK_FALSE(alone.applies(rule::tli));
    CHECK_FALSE(pair.applies(rule::identity));
    CHECK_FALSE(pair.applies(rule::identity_block));

    batch_of<draft_id, draft_model> own(1, draft_model(x.words.target.table()));
    const tiny_tokenizer<draft_id> same{{"<end>", "a", "b", "c", " ", "ab", " a", "<mark>", "abc"}};
    speculation twins(x.target_side(), {own, same});
    CHECK(twins.rule_for(fixed({}, 0)) == rule::identity);
    CHECK(twins.rule_for(fixed({}, 1)) == rule::identity_block);
    for (const rule r : {rule::identity, rule::identity_block})
        CHECK(twins.generate("ab", fixed(r, 0)).tokens ==
              twins.generate("ab", fixed(rule::autoregressive, 0)).tokens);
    CHECK(twins.generate("ab", fixed(rule::identity_block, 1)).counts.accepted > 0);
}

TEST_CASE("speculation: it says what it will do, and why") {
    toys x;
    speculation pair = x.pair();
    decode_settings s = fixed({}, 0);
    s.lengths = {.costs = cost_table{{1.0, 1.2, 1.4}, 0.25, 0.05}};
    CHECK(pair.explain(s) ==
          "slem: string-level exact match, lossless.\n"
          "Chosen at temperature 0: it accepts the drafter's text where it is right, however it is "
          "cut into tokens.\n"
          "7 of the drafter's 10 tokens are among the target's 9.\n"
          "Drafts are as long as pays, at most 8 draft tokens; there are none while drafting "
          "loses.\n"
          "A draft token costs 0.25 of a pass of the target over one position; passes over 2, 3 "
          "positions cost 1.20, 1.40 of one. One draft token a round pays where more than 45 % are "
          "accepted.\n");
    s.lengths.costs->draft = 0.9;
    CHECK_THAT(pair.explain(s), Contains("One draft token a round never pays"));
    CHECK_THAT(pair.explain(fixed(rule::merge_paper, 1)), Contains("NOT lossless"));
    CHECK_THAT(pair.explain(fixed(rule::identity, 1)), Contains("cannot follow"));
    CHECK_THAT(speculation(x.target_side()).explain({.rule = rule::autoregressive}),
               Contains("no drafter"));
    s.rule.reset();
    CHECK(speculation(x.target_side()).explain(s) ==
          "lookup: prompt lookup, no drafter, exact match, lossless.\n"
          "Chosen for a target without a drafter: looking up costs nothing.\n"
          "Drafts are as long as pays, at most 16 target tokens; there are none while drafting "
          "loses.\n"
          "Passes over 2, 3 positions cost 1.20, 1.40 of one.\n");
}

namespace {

/// Draft models that were trained on texts of so many tokens.
struct trained_models : batch_of<draft_id, draft_model> {
    std::size_t trained = 0, longest = 0; // trained on, seen

    trained_models(const toys& x, std::size_t tokens) : batch_of(x.draft), trained(tokens) {}
    static constexpr model_traits traits{.trained_context = true};
    [[nodiscard]] std::size_t trained_context() const { return trained; }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const sequence_tokens<draft_id>> parts) {
        const auto scores = batch_of::score(parts);
        longest = size(0) > longest ? size(0) : longest;
        return scores;
    }
};

} // namespace

TEST_CASE("speculation: contexts longer than a drafter was trained on are windowed") {
    toys x;
    const auto longest = [&](std::size_t trained) {
        trained_models models(x, trained);
        speculation_side<draft_id> side = x.draft_side();
        side.models = any_batch_model<draft_id>(models);
        speculation pair(x.target_side(), std::move(side));
        for (const rule how : {rule::slem, rule::tli}) {
            const decode_result text = pair.generate("ab c", fixed(how, 0));
            CHECK(text.tokens == pair.generate("ab c", fixed(rule::autoregressive, 0)).tokens);
            CHECK(text.counts.accepted > 0);
        }
        const bool told =
            pair.explain(fixed({}, 0)).find("the drafter reads a window") != std::string::npos;
        CHECK(told == (trained > 0));
        return models.longest;
    };
    CHECK(longest(0) > 30);
    for (const std::size_t trained : {12U, 9U}) { // room is left for a draft
        const std::size_t seen = longest(trained);
        CHECK(seen <= trained);
        CHECK(seen > trained / 2);
    }
}

TEST_CASE("speculation: what no text could be decoded with is not explained") {
    toys x;
    speculation pair = x.pair(), alone(x.target_side());
    for (speculation* const one : {&pair, &alone}) {
        decode_settings s;
        s.lengths.costs = cost_table{.pass = {}};
        CHECK_THROWS_WITH(one->explain(s), Contains("cost table: pass"));
        s = {.lengths = {.length = 100000}};
        CHECK_THROWS_WITH(one->explain(s), Contains("lengths: length"));
        s = {};
        s.sampling.temperature = -3;
        CHECK_THROWS_WITH(one->explain(s), Contains("temperature"));
    }
}

TEST_CASE("speculation: texts draft together, under every rule, what each drafts in its turn") {
    const auto decode = [](rule how, float temperature, bool together, bool beside) {
        toys two(4);
        speculation pair = two.pair();
        std::vector<std::vector<target_id>> prompts;
        for (const char* text : {"ab c a", "c", "b a b", "a c c b a"})
            prompts.push_back(two.words.encode(text));
        std::vector<text_request> texts;
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            texts.push_back({.prompt = prompts[i], .sequence = i});
            texts.back().lengths = length_settings{.kind = length_kind::fixed,
                                                   .length = 1 + i,
                                                   .costs = cost_table{{1, 1, 1, 1, 1}, 0.2, 0}};
        }
        decode_settings settings = fixed(how, temperature);
        settings.together = together;
        settings.lookup.beside = beside;
        settings.carry.ngrams = false;
        const decode_results results = pair.run(texts, settings);
        CHECK(results.passes.draft_passes == two.draft.passes);
        std::vector<std::vector<target_id>> tokens;
        for (const decode_result& text : results.texts)
            tokens.push_back(text.tokens);
        return std::pair(tokens, results.passes.draft_passes);
    };
    for (const named_rule& about : rules)
        for (const float temperature : {0.0F, 1.0F})
            for (const bool beside : {false, true}) {
                if (takes_equal_vocabularies(about.rule) || (beside && !takes_drafter(about.rule)))
                    continue;
                CAPTURE(about.name, temperature, beside);
                const auto [together, few] = decode(about.rule, temperature, true, beside);
                const auto [in_turns, many] = decode(about.rule, temperature, false, beside);
                CHECK(together == in_turns);
                if (!takes_drafter(about.rule))
                    CHECK(few == many);
                else if (!beside)
                    CHECK(4 * few < 3 * many);
                else
                    CHECK(few <= many);
            }
}

TEST_CASE("speculation: engines may do the target's passes themselves") {
    toys x;
    speculation pair = x.pair();
    const auto prompt = x.words.encode("ab c");
    const text_request request{.prompt = prompt};
    const decode_result whole = pair.run({&request, 1}, fixed(rule::tli, 1)).texts.front();

    const std::unique_ptr<speculative_text> text = pair.open(request, fixed(rule::tli, 1));
    target_model engine(x.words.target.table());
    while (text->draft(engine.capacity())) {
        const context_edit<target_id> edit = text->target_edit();
        engine.truncate(edit.truncate_to);
        const logits_rows<target_id> rows = engine.score(edit.append);
        text->target_fed(edit);
        const std::size_t n = text->rows_needed();
        text->decide(rows.middle(rows.size() - n, n));
        text->commit();
    }
    CHECK(text->result().tokens == whole.tokens);
    CHECK(text->finish() == finish_reason::max_tokens);
    CHECK(text->counts().committed == 40);

    CHECK_THROWS_WITH(pair.open(request, fixed(rule::tli, 1)),
                      Contains("expected a free sequence of the drafter, all 1 are taken"));
    const auto plain = pair.open(request, fixed(rule::autoregressive, 1)); // needs none
    any_batch_model<target_id> view(x.target);
    x.target.truncate(0, 0);
    while (advance(*plain, view)) {
    }
    CHECK(plain->result().tokens.size() == 40);
}

TEST_CASE("speculation: costs are measured before texts, and refused beside one") {
    toys x(2);
    speculation pair = x.pair();
    const auto prompt = x.words.encode("ab c");
    const text_request request{.prompt = prompt}, other{.prompt = prompt, .sequence = 1};
    const decode_settings s = fixed(rule::slrs, 1);
    decode_settings measured = s, given = s;
    measured.lengths = {};
    given.lengths = {.costs = cost_table{{1, 1.1}, 0.1, 0}};
    const std::vector<target_id> whole = pair.run({&request, 1}, s).texts.front().tokens;

    target_model engine(x.words.target.table());
    const auto finish = [&](speculative_text& text) {
        do {
            while (text.request_row().goes_on)
                text.draw();
            const context_edit<target_id> edit = text.target_edit();
            engine.truncate(edit.truncate_to);
            const logits_rows<target_id> rows = engine.score(edit.append);
            text.target_fed(edit);
            text.decide(rows);
            text.commit();
        } while (text.begin_draft(engine.capacity()));
        return text.result().tokens;
    };
    const auto refused = [&](const auto& ask) {
        CHECK_THROWS_WITH(ask(), Contains("speculation: costs: expected a call before requests"));
    };
    for (const rule how : {rule::slrs, rule::autoregressive}) { // which has no drafter's sequence
        CAPTURE(about(how).name);
        decode_settings own = s;
        own.rule = how;
        const auto text = pair.open(request, own);
        REQUIRE(text->begin_draft(engine.capacity()));
        const bool drafts = how == rule::slrs;
        CHECK(text->request_row().goes_on); // the whole draft of a source without steps is one
        const std::size_t passes = x.draft.passes + x.target.passes;
        refused([&] { (void)pair.open(other, measured); });
        refused([&] { (void)pair.run({&other, 1}, measured); });
        refused([&] { (void)pair.explain(measured); });
        refused([&] { (void)pair.costs(); });
        CHECK(x.draft.passes + x.target.passes == passes);
        CHECK(pair.open(other, given)->finish() == finish_reason::none);
        if (drafts)
            CHECK(finish(*text) == whole);
    }
    CHECK(pair.costs()->pass.size() > 1);
    const auto text = pair.open(request, s);
    REQUIRE(text->begin_draft(engine.capacity()));
    REQUIRE(text->request_row().goes_on);
    const std::size_t passes = x.draft.passes + x.target.passes;
    const auto beside = pair.open(other, measured);
    CHECK(x.draft.passes + x.target.passes == passes);
    CHECK(finish(*text) == whole);
}

namespace {
struct two_tokens {
    static constexpr rule_traits traits{.learn = true};
    mutable std::size_t asked = 0, taught = 0;
    [[nodiscard]] law_version version() const { return taught; }
    [[nodiscard]] double accept(const draft_progress& now) const {
        ++asked;
        return now.drafted < 2 ? 1 : 0;
    }
    [[nodiscard]] double next(const draft_progress& now) const {
        return accept({.drafted = now.drafted + 1});
    }
    void learn(const draft_outcome&) { ++taught; }
};
} // namespace

TEST_CASE("speculation: what is given costs and learnt lengths do, and that lengths differ") {
    toys x;
    speculation pair = x.pair();
    decode_settings s = fixed(rule::tli, 0);
    s.limits.max_tokens = 100;
    s.lengths = {.length = 4, .costs = cost_table{{1, 1, 1, 1, 1}, 0.01, 0}};
    CHECK(pair.generate("ab c", s).counts.proposed_a_call() > 1);
    s.lengths.costs = cost_table{{1, 2, 3, 4, 5}, 1, 0}; // nothing pays
    CHECK(pair.generate("ab c", s).counts.proposed_a_call() < 0.2);
    s.lengths.costs->pass = {};
    CHECK_THROWS_WITH(pair.generate("ab c", s), Contains("cost table: pass"));
    for (const length_kind kind : {length_kind::confidence, length_kind::entropy,
                                   length_kind::heuristic, length_kind::predicted}) {
        s.lengths = {.kind = kind, .length = 4};
        CHECK(pair.generate("ab c", s).counts.proposed > 0);
    }
    CHECK(pair.costs()->pass.size() > 1); // measured

    two_tokens own;
    any_predictor any(own);
    for (const length_kind kind : {length_kind::predicted, length_kind::automatic}) {
        s.lengths = {.kind = kind, .length = 8, .costs = cost_table{{1, 1, 1, 1, 1}, 0.01, 0}};
        const auto told = pair.generate("ab c", s).counts;
        own = {};
        s.lengths.predictor = &any;
        const auto asked = pair.generate("ab c", s).counts;
        CHECK(own.asked > 0);
        CHECK(own.taught == asked.rounds);
        CHECK(asked.proposed_a_call() <= 2);
        s.lengths.predictor = nullptr; // and the table again
        own = {};
        CHECK(pair.generate("ab c", s).counts.proposed_a_call() > 0);
        CHECK(told.proposed > 0);
        CHECK(own.asked == 0);
    }
    // A text that asks its own predictor, and ends behind one that does not, beside which it is.
    const cost_table given{{1, 1, 1, 1, 1}, 0.01, 0};
    for (const bool first_asks : {true, false}) {
        toys both(2);
        speculation two = both.pair();
        const std::vector<target_id> prompt = both.words.encode("ab c");
        std::vector<text_request> texts{{.prompt = prompt}, {.prompt = prompt, .sequence = 1}};
        s.limits.max_tokens = 20;
        s.lengths = {.length = 8, .costs = given};
        length_settings asks = s.lengths;
        asks.predictor = &any;
        text_request& long_one = texts[first_asks ? 0 : 1];
        long_one.lengths = asks;
        long_one.limits = generation_limits{.max_tokens = 60};
        own = {};
        (void)two.run(texts, s);
        CHECK(own.taught > 0);
        own = {};
        (void)two.generate("ab c", s);
        CHECK(own.asked + own.taught == 0);
    }
    speculation alone(x.target_side());
    REQUIRE(alone.costs() != nullptr); // passes only
    CHECK(alone.costs()->pass.size() > 1);
    CHECK(alone.costs()->draft == 0);
    CHECK(alone.costs()->catch_up == 0);
}

/// The most that a round proposed.
std::size_t longest_draft(const statistics& counts) {
    std::size_t n = counts.rounds_by_proposals.size();
    while (n > 0 && counts.rounds_by_proposals[n - 1] == 0)
        --n;
    return n > 0 ? n - 1 : 0;
}

TEST_CASE("speculation: nested drafts are as long as was asked for") {
    toys x;
    speculation pair = x.pair();
    decode_settings s = fixed(rule::nested, 0);
    s.lengths.length = 24;
    s.limits.max_tokens = 40;
    CHECK(longest_draft(pair.generate("ab c", s).counts) > 16);
}

TEST_CASE("speculation: without a drafter, what was said before is looked up") {
    toys x;
    const std::string said = "ab c abc b a ab c abc b a ab c abc b a ab c";
    for (const float temperature : {0.0F, 1.0F})
        for (const bool noise : {false, true}) {
            speculation alone(x.target_side()), pair = x.pair();
            decode_settings s = fixed({}, temperature);
            s.lengths = {.kind = length_kind::fixed, .length = 6};
            s.shared_noise = noise;
            const decode_result looked_up = alone.generate(said, s);
            s.rule = rule::lookup;
            const decode_result beside = pair.generate(said, s);
            s.rule = rule::autoregressive;
            const decode_result plain = alone.generate(said, s);
            CHECK(looked_up.tokens == plain.tokens); // the text of a seed is the target's own
            CHECK(beside.tokens == plain.tokens);
            CHECK(looked_up.counts.looked_up > 0);
            CHECK(looked_up.counts.looked_up == looked_up.counts.proposed);
            CHECK(looked_up.counts.looked_up_accepted == looked_up.counts.accepted);
            CHECK(looked_up.counts.draft_tokens == 0);
            CHECK(plain.counts.looked_up == 0);
        }
    speculation alone(x.target_side()), pair = x.pair();
    decode_settings s = fixed(rule::lookup, 0); // drafts that grow as they are kept
    s.lengths = {.kind = length_kind::heuristic, .length = 12};
    s.limits.max_tokens = 120;
    CHECK(longest_draft(alone.generate(said, s).counts) > 5);
    CHECK(pair.applies(rule::lookup));
    CHECK(pair.generate(said, fixed(rule::slem, 0)).counts.looked_up == 0);
}

TEST_CASE("speculation: recycled tokens leave the text of a seed as it is") {
    toys x;
    for (const float temperature : {0.0F, 1.0F})
        for (const bool noise : {false, true})
            for (const length_kind kind : {length_kind::fixed, length_kind::automatic}) {
                speculation alone(x.target_side());
                decode_settings s = fixed(rule::recycling, temperature);
                s.lengths = {.kind = kind, .length = 4};
                if (kind == length_kind::automatic)
                    s.lengths.costs = cost_table{{1, 1, 1, 1, 1}, 0, 0};
                s.shared_noise = noise;
                const decode_result recycled = alone.generate("ab c", s);
                CHECK(recycled.counts.proposed > 0);
                CHECK(recycled.counts.draft_tokens == 0);
                s.lookup.shared = false;
                CHECK(alone.generate("ab c", s).tokens == recycled.tokens);
                s.rule = rule::autoregressive;
                CHECK(alone.generate("ab c", s).tokens == recycled.tokens);
            }
    speculation pair = x.pair();
    CHECK(pair.applies(rule::recycling));
    CHECK_THAT(pair.explain(fixed(rule::recycling, 0)), Contains("likeliest successors"));
}

TEST_CASE("speculation: texts find each other's words, unless they are not to") {
    toys x;
    speculation alone(x.target_side()), apart(x.target_side());
    decode_settings s = fixed(rule::lookup, 0);
    s.lengths = {.kind = length_kind::fixed, .length = 8};
    const decode_result first = alone.generate("ab c", s), again = alone.generate("ab c", s);
    CHECK(again.tokens == first.tokens);
    CHECK(again.counts.rounds < first.counts.rounds); // all of it was said before
    s.lookup.shared = false;
    CHECK(apart.generate("ab c", s).counts.rounds == apart.generate("ab c", s).counts.rounds);

    lookup_memory memory; // of several decoders, whatever their targets
    s.lookup = {.memory = &memory};
    (void)alone.generate("ab c", s);
    CHECK(apart.generate("ab c", s).counts.rounds == again.counts.rounds);
}

TEST_CASE("speculation: looked-up drafts are as long as pays") {
    toys x;
    speculation alone(x.target_side());
    decode_settings s = fixed(rule::lookup, 0);
    s.limits.max_tokens = 100;
    s.lengths = {.length = 4, .costs = cost_table{{1, 1, 1, 1, 1}, 0, 0}};
    const statistics free = alone.generate("ab c", s).counts;
    CHECK(free.looked_up > 0);
    for (std::size_t n = 9; n < free.rounds_by_proposals.size(); ++n)
        CHECK(free.rounds_by_proposals[n] == 0);          // twice the draft length at most
    s.lengths.costs = cost_table{{1, 2.5, 4, 5.5}, 0, 0}; // nothing pays
    const statistics dear = alone.generate("ab c", s).counts;
    CHECK(dear.looked_up == 0);
    CHECK(dear.without_draft[static_cast<std::size_t>(no_draft::stop_rule)] > 0);
    s.lengths.length = 0;
    CHECK(alone.generate("ab c", s).counts.looked_up == 0);
    for (const length_kind kind : {length_kind::confidence, length_kind::entropy,
                                   length_kind::heuristic, length_kind::predicted}) {
        s.lengths = {.kind = kind, .length = 4, .threshold = 0.1};
        const statistics c = alone.generate("ab c", s).counts;
        CHECK(c.looked_up > 0);
        for (std::size_t n = 5; n < c.rounds_by_proposals.size(); ++n)
            CHECK(c.rounds_by_proposals[n] == 0);
    }
    s.lengths = {.costs = cost_table{{}, 0, 0}};
    CHECK_THROWS_WITH(alone.generate("ab c", s), Contains("cost table: pass"));
}

TEST_CASE("speculation: rows may be processed on both sides") {
    toys x;
    speculation pair = x.pair();
    const auto prompt = x.words.encode("ab c");
    text_request request{.prompt = prompt};
    const auto never_c = []<class Id>(const auto& tokenizer) {
        return [&](std::span<const Id>, std::span<float> row) {
            for (std::size_t i = 0; i < row.size(); ++i)
                if (tokenizer.bytes(id_at<Id>(i)).find('c') != std::string_view::npos)
                    row[i] = -std::numeric_limits<float>::infinity();
        };
    };
    const auto accepted = [&](rule how, float temperature) {
        const decode_result text = pair.run({&request, 1}, fixed(how, temperature)).texts.front();
        CHECK(text.text.find('c') == std::string::npos);
        return text.counts.acceptance_rate();
    };
    CHECK(pair.generate("ab c", fixed(rule::slem, 1)).text.find('c') != std::string::npos);
    request.process = never_c.operator()<target_id>(x.words.target);
    const double alone = accepted(rule::slem, 1);
    request.process_draft = never_c.operator()<draft_id>(x.words.draft);
    CHECK(accepted(rule::slem, 1) >= alone);
    (void)accepted(rule::slrs, 1);
}

TEST_CASE("speculation: a reader follows a text and may end it, and so may the settings") {
    struct reader : listener {
        std::string text;
        std::size_t rounds = 0;
        bool bytes(std::string_view bytes, token_origin) override {
            text += bytes;
            return text.size() < 10;
        }
        bool round(const round_result&) override { return ++rounds, true; }
    } taken;
    toys x;
    speculation pair = x.pair();
    const decode_result text = pair.generate("ab c", fixed(rule::tli, 1), &taken);
    CHECK(text.finish == finish_reason::cancelled);
    CHECK(text.text == taken.text);
    CHECK(taken.rounds == text.counts.rounds);

    decode_settings s = fixed(rule::tli, 1);
    s.cancelled = [] { return true; };
    CHECK(pair.generate("ab c", s).finish == finish_reason::cancelled);
    CHECK(pair.generate("ab c", s).tokens.empty());
}

TEST_CASE("speculation: log-probabilities of the tokens, where they are asked for") {
    toys x;
    speculation pair = x.pair();
    decode_settings s = fixed(rule::slem, 0);
    CHECK(pair.generate("ab c", s).log_probabilities.empty());
    s.log_probabilities = 2;
    const decode_result text = pair.generate("ab c", s);
    REQUIRE(text.log_probabilities.size() == text.tokens.size());
    for (std::size_t i = 0; i < text.tokens.size(); ++i) {
        CHECK(text.log_probabilities[i].chosen.token == text.tokens[i]);
        CHECK(text.log_probabilities[i].likeliest.at(0).token == text.tokens[i]); // greedy
    }
    s.log_probabilities = x.words.target.table().size();
    CHECK(pair.generate("ab c", s).log_probabilities.front().likeliest.size() ==
          *s.log_probabilities);
    for (const std::size_t more :
         {*s.log_probabilities + 1, std::size_t{1} << 62, ~std::size_t{0}}) {
        s.log_probabilities = more;
        CHECK_THROWS_WITH(pair.generate("ab c", s), Contains("log probabilities: likeliest"));
    }
}

TEST_CASE("speculation: errors name the side, the rule, the prompt") {
    toys x;
    speculation pair = x.pair();
    CHECK_THROWS_WITH(pair.generate("ab", fixed(rule::identity, 1)),
                      Contains("rule: identity: expected equal vocabularies"));
    speculation alone(x.target_side());
    CHECK_THROWS_WITH(alone.generate("ab", fixed(rule::slem, 1)), Contains("expected a drafter"));
    CHECK_THROWS_WITH(rule_of("magic"), Contains("expected one of autoregressive, identity"));

    speculation_side<target_id> wrong{x.target, target_words{{"a", "b"}}};
    CHECK_THROWS_WITH(speculation(std::move(wrong)),
                      Contains("target: vocabulary: expected the tokenizer's 2 tokens"));
    speculation_side<draft_id> no_end = x.draft_side();
    no_end.ends = {draft_id{77}};
    CHECK_THROWS_WITH(speculation(x.target_side(), std::move(no_end)), Contains("drafter: ends"));
    for (const std::optional<draft_id> bos : {std::optional<draft_id>(), {draft_id{77}}}) {
        speculation_side<draft_id> no_bos = x.draft_side();
        no_bos.bos = bos;
        CHECK_THROWS_WITH(speculation(x.target_side(), std::move(no_bos)),
                          Contains("drafter: bos"));
    }
    CHECK_THROWS_WITH(speculation(x.target_side(), x.draft_side(), {.policy = "mru"}),
                      Contains("expected none, lru or lfu, found mru"));

    const auto good = x.words.encode("ab");
    const std::vector<text_request> texts{{.prompt = good, .where = "a.txt: line 1"},
                                          {.prompt = {}, .where = "a.txt: line 2"}};
    CHECK_THROWS_WITH(pair.run(texts, fixed(rule::tli, 1)),
                      Contains("a.txt: line 2: session: prompt"));
    const std::vector<text_request> long_drafts{
        {.prompt = good, .where = "a.txt: line 1"},
        {.prompt = good, .where = "a.txt: line 2", .lengths = length_settings{.length = 5000}}};
    CHECK_THROWS_WITH(pair.run(long_drafts, fixed(rule::tli, 1)),
                      Contains("a.txt: line 2: lengths: length"));
    x.target.fails_at = x.target.passes + 2;
    CHECK_THROWS_WITH(pair.run({texts.data(), 1}, fixed(rule::tli, 1)),
                      Contains("a.txt: line 1: batch_of: pass"));
    CHECK(pair.generate("ab", fixed(rule::tli, 1)).tokens.size() == 40); // all seats are free again
}

TEST_CASE("speculation: n-grams are kept from text to text, and in a file") {
    toys x;
    speculation pair = x.pair();
    CHECK(pair.cache() == nullptr);
    (void)pair.generate("ab c", fixed(rule::slem, 0));
    CHECK(pair.cache() == nullptr);
    (void)pair.generate("ab c", fixed(rule::merge, 0));
    REQUIRE(pair.cache() != nullptr);
    const std::size_t learned = pair.cache()->size();
    CHECK(learned > 0);
    (void)pair.generate("c c", fixed(rule::merge, 0));
    CHECK(pair.cache()->size() >= learned);
}
