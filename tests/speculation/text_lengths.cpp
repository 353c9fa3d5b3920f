// SPDX-License-Identifier: MIT
#include <specdec/speculation/text_lengths.hpp>

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/speculation/speculation.hpp>

#include "support/batch_of.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace text_lengths_tests {

using target_model = text_model<target_id>;
using draft_model = text_model<draft_id>;

draft_outcome all_kept(std::span<const draft_progress> steps) {
    return {.steps = steps,
            .kept = steps.size(),
            .forwards = steps.size(),
            .proposed = 1,
            .emitted = 2};
}

TEST_CASE("a round keeps the table of its draft until it is decided, also where it is redone") {
    const length_settings predicted{.kind = length_kind::predicted, .threshold = 0.5};
    learned_lengths learned;
    acceptance_table both = learned.table;
    text_lengths one(predicted, 4, learned, 1, 2), other(predicted, 4, learned, 1, 2);
    const std::vector<draft_progress> steps{{.drafted = 1, .sure = 0.3}};
    const auto predicts = [&] { return one.rule().predict(steps[0]); };

    one.begin_draft_round();
    const double at_draft = predicts();
    const law_version mark = one.rule().version();
    other.learn(all_kept(steps));
    CHECK(predicts() == at_draft);
    one.begin_draft_round(); // drafted again
    CHECK(predicts() == at_draft);
    CHECK(one.rule().version() == mark);
    one.learn(all_kept(steps)); // decided
    one.begin_draft_round();
    for (int i = 0; i < 2; ++i)
        both.learn(all_kept(steps));
    CHECK(predicts() == both.accept(steps[0]));
    CHECK(one.rule().version() != mark);
    CHECK(predicts() == learned.table.accept(steps[0]));
    other.begin_draft_round(); // asks what the first has taught since
    CHECK(other.rule().predict(steps[0]) == learned.table.accept(steps[0]));
}

TEST_CASE("the next text goes on from the rule of the one that ended, with a table of its own") {
    learned_lengths learned;
    learned.go_by({.pass = {1, 1.01}, .draft = 0.01, .catch_up = 0}, true);
    const length_settings automatic{};
    const std::vector<draft_progress> steps{{.drafted = 1, .sure = 0.1}};
    {
        text_lengths text(automatic, 4, learned, 1, 1);
        for (int i = 0; i < 100; ++i)
            text.learn({.steps = steps, .kept = 0, .rejected = true, .forwards = 1, .proposed = 1});
        CHECK_FALSE(text.rule().more({}));
        text.end();
    }
    text_lengths next(automatic, 4, learned, 1, 1);
    next.begin_draft_round();
    CHECK_FALSE(next.rule().more({}));
    CHECK(text_lengths(automatic, 4, *std::make_unique<learned_lengths>(), 1, 1).rule().version() !=
          next.rule().version());
}

TEST_CASE("measured costs follow what rounds take, from the next draft on; given ones do not") {
    learned_lengths learned;
    const cost_table told{.pass = {1, 1.1}, .draft = 0.1, .catch_up = 0};
    learned.go_by(told, true);
    const std::vector<draft_progress> steps{{.drafted = 1, .sure = 0.5}};
    length_settings settings{};
    const auto dear_rounds = [&](text_lengths& text) { // 2 passes a draft token
        for (int i = 0; i < 50; ++i) {
            text.begin_draft_round();
            text.learn(all_kept(steps), {.pass = 0.11, .rest = 0.2});
        }
    };
    text_lengths text(settings, 4, learned, 1, 1), other(settings, 4, learned, 1, 1);
    other.begin_draft_round();
    const law_version mark = other.rule().version();
    dear_rounds(text);
    CHECK(learned.costs.now().draft > 1);
    CHECK_FALSE(learned.balance.may_draft());
    CHECK(other.rule().version() == mark); // its round is under way
    other.learn(all_kept(steps));
    other.begin_draft_round();
    const law_version dear = other.rule().version();
    other.learn(all_kept(steps));
    other.begin_draft_round();
    CHECK(other.rule().version() != dear);
    CHECK_FALSE(other.rule().more({}));

    settings.costs = told;
    auto given = std::make_shared<learned_lengths>(learned);
    const std::shared_ptr<learned_lengths> others = given;
    follow_settings(settings, given, &told); // the same numbers, but given
    CHECK(given != others);                  // which go on with theirs
    CHECK(others->follows);
    text_lengths fixed(settings, 4, *given, 1, 1);
    dear_rounds(fixed);
    CHECK(given->costs.now() == told);
    CHECK(given->balance.may_draft());
    CHECK(fixed.rule().more({}));
}

TEST_CASE("what a text offers leaves a round under way as it was drafted") {
    const cost_table costs{.pass = {1, 1.01, 1.02}, .draft = 0.01};
    learned_lengths learned;
    learned.go_by(costs, false);
    text_lengths one({}, 4, learned, 1, 2), other({}, 4, learned, 1, 2), fixed(3);
    CHECK(fixed.offer().costs == nullptr);
    const std::vector<draft_progress> steps{{.drafted = 1, .sure = 0.3}};
    const double before = one.offer().worth[0];
    one.begin_draft_round();
    const law_version mark = one.rule().version();
    const double accepted = one.rule().predict(steps[0]);
    for (int i = 0; i < 20; ++i)
        other.learn({.steps = steps, .rejected = true, .forwards = 1, .proposed = 1});
    CHECK(one.offer().tokens == 0); // it has its draft
    CHECK(one.rule().version() == mark);
    CHECK(one.rule().predict(steps[0]) == accepted);
    one.learn(all_kept(steps));
    CHECK(one.offer().worth[0] < before); // what others have taught
}

TEST_CASE(
    "a text loses from its balance what its own draft adds to a pass, not what others draft") {
    const cost_table told{.pass = {1, 1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.4}, .draft = 0.01};
    learned_lengths learned;
    learned.go_by(told, true);
    text_lengths one({}, 4, learned, 1, 2), other({}, 4, learned, 1, 2);
    const std::vector<draft_progress> steps{{.drafted = 1, .sure = 0.9}};
    std::uint64_t pass = 0;
    for (int i = 0; i < 300; ++i) {
        for (text_lengths* const text : {&one, &other}) {
            text->begin_draft_round();
            text->passed({.number = pass + 1, .positions = 3, .seconds = 0.14});
        }
        ++pass;
        // One draft token adds 0.2 passes and is kept four times of ten: plain rounds make two
        // tokens in 1.2 passes. By its positions its text would answer for 0.93 of them.
        const bool kept = i % 5 < 2;
        one.learn({.steps = steps,
                   .kept = kept ? 1U : 0U,
                   .rejected = !kept,
                   .forwards = 1,
                   .proposed = 1,
                   .emitted = kept ? 2U : 1U},
                  {.pass = 0.14 * 2 / 3, .rest = 0.001});
        other.learn({}, {.pass = 0.14 / 3, .rest = 0});
        CHECK(learned.balance.may_draft());
    }
}

/// A text whose passes the caller does.
struct opened {
    std::unique_ptr<speculative_text> text;
    target_model target;

    void draft() { REQUIRE(text->draft(target.capacity())); }
    void decide() {
        const context_edit<target_id> edit = text->target_edit();
        target.truncate(edit.truncate_to);
        const logits_rows<target_id> rows = target.score(edit.append);
        text->target_fed(edit);
        text->decide(rows);
        text->commit();
    }
};

/// What a text's first round gives, if another text drafts, decides and commits between its draft
/// and decision, or behind them.
std::vector<target_id> first_round(length_kind kind, std::uint64_t seed, bool between) {
    const toy_pair words;
    batch_of<target_id, target_model> models(2, target_model(words.target.table()));
    batch_of<draft_id, draft_model> drafters(
        2, draft_model(words.draft.table(), {.seed = 2, .agreement = 0.4, .sharpness = 2}));
    speculation pair({.models = models, .tokenizer = words.target, .ends = {}},
                     {.models = drafters, .tokenizer = words.draft});
    const std::vector<target_id> prompt = words.encode("ab c");
    const cost_table costs{{1, 1.05, 1.1, 1.15}, 0.05 + 0.001 * static_cast<double>(seed % 300), 0};
    const decode_settings s{.rule = rule::slrs,
                            .lengths = {.kind = kind,
                                        .length = 3,
                                        .threshold = 0.3 + 0.002 * static_cast<double>(seed % 300),
                                        .costs = costs},
                            .min_draft_probability = 0,
                            .seed = seed,
                            .limits = {.max_tokens = 40}};
    opened a{pair.open({.prompt = prompt}, s), target_model(words.target.table())};
    opened b{pair.open({.prompt = prompt, .sequence = 1}, s), target_model(words.target.table())};
    a.draft();
    for (int rounds = 0; between && rounds < 12; ++rounds) {
        b.draft();
        b.decide();
    }
    a.decide();
    return a.text->result().tokens;
}

TEST_CASE("a text of the facade decides by the lengths of its draft, whatever others teach",
          "[computes]") {
    std::size_t others = 0;
    for (const length_kind kind : {length_kind::predicted, length_kind::automatic})
        for (std::uint64_t seed = 0; seed < 900; ++seed)
            others += first_round(kind, seed, true) == first_round(kind, seed, false) ? 0U : 1U;
    CHECK(others == 0);
}

} // namespace text_lengths_tests
