// SPDX-License-Identifier: MIT
// How many texts share the target's passes changes from round to round, and automatic lengths go by
// what a position costs then.
#include <specdec/speculation/speculation.hpp>

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/speculation/text_lengths.hpp>

#include "support/ids.hpp"
#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace shared_passes_tests {

/// Some positions cost next to nothing, more of them dearly.
cost_table few_free() {
    return {.pass = {1, 1.01, 1.02, 1.03, 1.04, 1.05, 2.05}, .draft = 0.05};
}
decode_settings automatic() {
    decode_settings s = fixed(rule::tli, 1);
    s.lengths = {.length = 4, .costs = few_free()};
    s.carry = reuse_settings::nothing();
    s.limits.max_tokens = 120;
    return s;
}
draft_outcome all_kept(std::span<const draft_progress> steps) {
    return {.steps = steps, .kept = 1, .forwards = 1, .proposed = 1, .emitted = 2};
}

TEST_CASE("how many texts share the passes is asked when a round begins, not when it is redone") {
    learned_lengths learned;
    learned.go_by(few_free(), false);
    text_lengths text({}, 4, learned, 1, 1);
    const std::vector<draft_progress> steps{{.drafted = 1, .sure = 0.9}};
    text.begin_draft_round();
    const law_version mark = text.rule().version();
    CHECK(text.rule().more({}));
    text.share_pass(8);
    CHECK_FALSE(text.begin_draft_round()); // drafted again, as it was
    CHECK(text.rule().version() == mark);
    CHECK(text.rule().more({}));
    text.learn(all_kept(steps));
    CHECK(text.begin_draft_round());
    CHECK_FALSE(text.rule().more({}));
    text.learn({});
    text.share_pass(1);
    CHECK(text.begin_draft_round());
    CHECK(text.rule().more({}));

    text_lengths shared({}, 4, learned, 1, 8); // told first of eight, then that it is alone
    shared.share_pass(1);
    shared.begin_draft_round();
    CHECK(shared.rule().more({}));
}

TEST_CASE("a plan is taken when a round begins, not when it is redone") {
    learned_lengths learned;
    learned.go_by(few_free(), false);
    text_lengths text({}, 4, learned, 1, 1);
    pass_share share(4);
    share.planned = true;
    share.others = 3;
    share.rate = 4;
    text.share_pass(share);
    text.begin_draft_round();
    const law_version mark = text.rule().version();
    CHECK(text.rule().more({}));
    share.drafts = false;
    text.share_pass(share);
    CHECK_FALSE(text.begin_draft_round());
    CHECK(text.rule().version() == mark);
    CHECK(text.rule().more({}));
    text.learn({});
    CHECK(text.begin_draft_round());
    CHECK_FALSE(text.rule().more({}));
}

TEST_CASE("a text alone drafts as much with sixteen sequences as with one, under the same costs") {
    const auto rounds_of = [](std::size_t sequences, std::size_t told) {
        toys x(sequences);
        speculation pair = x.pair();
        const std::vector<target_id> prompt = x.words.encode("ab c");
        const auto text = pair.open({.prompt = prompt}, automatic());
        for (;;) { // as an engine that does the passes itself
            if (told > 0)
                text->share_pass(told);
            if (!text->draft(x.target.capacity()))
                break;
            const context_edit<target_id> edit = text->target_edit();
            x.target.truncate(0, edit.truncate_to);
            const sequence_tokens<target_id> part{0, edit.append};
            const auto rows = x.target.score({&part, 1});
            text->target_fed(edit);
            text->decide(rows);
            text->commit();
        }
        return text->counts().rounds;
    };
    CHECK(rounds_of(16, 0) == rounds_of(1, 0));
    CHECK(rounds_of(16, 16) > rounds_of(16, 1));
    CHECK(rounds_of(16, 1) == rounds_of(1, 0));
}

TEST_CASE("texts that are open, and have not ended, share the passes, unless somebody says more") {
    toys x(12);
    speculation pair = x.pair();
    const std::vector<target_id> prompt = x.words.encode("ab c");
    const auto proposed = [&](speculative_text& text) {
        REQUIRE(text.draft(x.target.capacity()));
        return text.rows_needed() - 1;
    };
    const auto one = pair.open({.prompt = prompt}, automatic());
    CHECK(proposed(*one) > 0);
    decode_settings brief = automatic();
    brief.limits.max_tokens = 1;
    std::vector<std::unique_ptr<speculative_text>> others;
    for (std::uint64_t s = 1; s < 8; ++s)
        others.push_back(pair.open({.prompt = prompt, .sequence = s}, brief));
    CHECK(proposed(*one) > 0); // the round is redone
    const auto two = pair.open({.prompt = prompt, .sequence = 9}, automatic());
    CHECK(proposed(*two) == 0);
    for (const auto& text : others)
        while (advance(*text, pair.target_models(), 7)) {
        }
    const auto three = pair.open({.prompt = prompt, .sequence = 10}, automatic());
    CHECK(proposed(*three) > 0);
}

/// Proposals of each round.
struct recorder : listener {
    std::vector<std::size_t> proposed{};
    bool round(const round_result& r) override {
        proposed.push_back(r.proposed.size());
        return true;
    }
};

TEST_CASE("a batch tells each round how many share its pass, and a seed repeats") {
    const auto run = [] {
        toys x(8);
        speculation pair = x.pair();
        const std::vector<target_id> prompt = x.words.encode("ab c");
        recorder reader;
        std::vector<text_request> texts(8, text_request{.prompt = prompt});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            texts[i].sequence = i;
            if (i > 0)
                texts[i].limits = generation_limits{.max_tokens = 20};
        }
        texts[0].reader = &reader;
        const auto results = pair.run(texts, automatic());
        std::vector<std::vector<target_id>> tokens;
        for (const decode_result& text : results.texts)
            tokens.push_back(text.tokens);
        return std::pair(reader.proposed, tokens);
    };
    const auto first = run();
    CHECK(first == run());
    const std::vector<std::size_t>& proposed = first.first;
    REQUIRE(proposed.size() > 40);
    std::size_t shared = 0, alone = 0;
    for (std::size_t i = 0; i < 10; ++i) {
        shared += proposed[i];
        alone += proposed[proposed.size() - 20 + i];
    }
    CHECK(shared <= 2); // a probe
    CHECK(alone >= 10);
}

TEST_CASE("a pass that texts share counts once among the measured costs, whoever tells of it") {
    learned_lengths learned;
    learned.go_by({.pass = {1, 1.1, 1.2, 1.3}, .draft = 0.1}, true);
    text_lengths one({}, 4, learned, 1, 2), other({}, 4, learned, 1, 2);
    const std::vector<draft_progress> steps{{.drafted = 1, .sure = 0.9}};
    for (std::uint64_t pass = 1; pass <= 4; ++pass) {
        CHECK(learned.costs.rounds_in(1) == 0); // the first round of a text feeds its prompt
        for (text_lengths* const text : {&one, &other}) {
            text->begin_draft_round();
            text->passed({.number = pass, .positions = 4, .seconds = 0.13});
            text->learn(all_kept(steps), {.pass = 0.065, .rest = 0.01});
        }
    }
    CHECK(learned.costs.rounds_in(1) > 0);
}

} // namespace shared_passes_tests
