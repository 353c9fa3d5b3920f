// SPDX-License-Identifier: MIT
// A drafter that fails does not end a sequence: rounds draft nothing, and it is asked again after a
// pause.
#include <specdec/speculation/running_sequence.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/failing_models.hpp"
#include "support/weighted_pair.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace drafter_failures_tests {

std::size_t rounds_without(const decode_result& r) {
    return r.counts.without_draft[static_cast<std::size_t>(no_draft::drafter_failed)];
}

TEST_CASE("drafter failures: a sequence goes on without drafts, and says so") {
    for (const rule how : {rule::tli, rule::slem, rule::slrs, rule::nested, rule::coupled}) {
        CAPTURE(std::string(about(how).name));
        failing_pair x;
        const decode_settings s = fixed(how, 0);
        const decode_result whole = x.pair.generate("ab c", s);
        REQUIRE(whole.drafter_failures == 0);
        x.draft.fails = [](auto, auto) { return true; };
        const decode_result alone = x.pair.generate("ab c", s);
        CHECK(alone.text == whole.text);
        CHECK(alone.finish == whole.finish);
        CHECK(alone.counts.accepted == 0);
        CHECK(alone.drafter_failures > 0);
        CHECK(alone.drafter_error == "the drafter's machine is gone");
        CHECK(rounds_without(alone) > alone.drafter_failures); // pauses, too
        x.draft.fails = [](auto, auto) { return false; };
        CHECK(x.pair.generate("ab c", s).counts.accepted > 0);
    }
}

TEST_CASE("drafter failures: pauses grow, and end with a round that drafts") {
    failing_pair x;
    decode_settings s = fixed(rule::tli, 1, 3);
    s.limits.max_tokens = 300;
    std::size_t asked_at = 0;
    std::vector<std::size_t> asked; // the tokens of the output when the drafter was asked
    x.draft.fails = [&](auto, auto) {
        if (asked.empty() || asked.back() != asked_at)
            asked.push_back(asked_at); // in the common pass; then the sequence asks for itself
        return true;
    };
    struct counter : listener {
        std::size_t& n;
        explicit counter(std::size_t& rounds) : n(rounds) {}
        bool round(const round_result&) override { return ++n < 100; }
    } count(asked_at);
    (void)x.pair.generate("ab c", s, &count);
    REQUIRE(asked.size() > 4);
    for (std::size_t i = 1; i < asked.size(); ++i)
        CHECK(asked[i] - asked[i - 1] == std::size_t{1} + (std::size_t{1} << (i - 1)));
}

TEST_CASE("drafter failures: a draft ends with what was drawn, and goes on in the next round") {
    for (const rule how : {rule::tli, rule::tli_block, rule::coupled, rule::slem}) {
        CAPTURE(std::string(about(how).name));
        failing_pair x;
        const decode_settings s = fixed(how, 0);
        const decode_result whole = x.pair.generate("ab c", s);
        std::size_t n = 0;
        x.draft.fails = [&](auto, auto) { return ++n % 9 > 6; }; // in the common pass and alone
        const decode_result found = x.pair.generate("ab c", s);
        CHECK(found.text == whole.text);
        CHECK(found.drafter_failures > 0);
        CHECK(found.counts.proposed > 0);
    }
}

TEST_CASE("drafter failures: trees end with what was drawn, too, and the drafter has pauses") {
    for (const rule how : {rule::tli, rule::slem, rule::coupled})
        for (const bool lookup : {false, true})
            for (const tree_growth growth : {tree_growth::dynamic, tree_growth::fixed}) {
                CAPTURE(std::string(about(how).name), lookup, static_cast<int>(growth));
                weighted_pair toys(false);
                failing_models<weighted_model<draft_id>> draft(1, toys.drafter);
                speculation pair({.models = toys.target, .tokenizer = toys.words},
                                 {.models = draft, .tokenizer = toys.draft_words});
                decode_settings s{.rule = how, .tree = tree_drafts{.nodes = 6, .growth = growth}};
                s.sampling.temperature = 0;
                s.limits.max_tokens = 40;
                s.lookup.beside = lookup;
                const decode_result whole = pair.generate("abcab", s);
                REQUIRE(whole.drafter_failures == 0);
                std::size_t n = 0;
                draft.fails = [&](auto, auto) { return ++n % 9 > 6; };
                const decode_result some = pair.generate("abcab", s);
                CHECK(some.text == whole.text);
                CHECK(some.drafter_failures > 0);
                CHECK(some.counts.proposed > 0);
                draft.fails = [](auto, auto) { return true; };
                const decode_result none = pair.generate("abcab", s);
                CHECK(none.text == whole.text);
                CHECK(none.drafter_failures > 0);
                CHECK((lookup || rounds_without(none) > none.drafter_failures));
                s.drafter_must_work = true;
                CHECK_THROWS_WITH(pair.generate("abcab", s),
                                  Contains("the drafter's machine is gone"));
            }
}

TEST_CASE("drafter failures: where drafts cannot end, and where it must work, they are errors") {
    failing_pair x;
    decode_settings s = fixed(rule::tli, 0);
    s.drafter_must_work = true;
    x.draft.fails = [](auto, auto) { return true; };
    CHECK_THROWS_WITH(x.pair.generate("ab c", s), Contains("the drafter's machine is gone"));
    s = fixed(rule::slrs, 1);
    std::size_t n = 0;
    x.draft.fails = [&](auto, auto) { return ++n == 3 || n == 4; }; // after a token was drawn
    CHECK_THROWS_WITH(x.pair.generate("ab c", s), Contains("the drafter's machine is gone"));
}

TEST_CASE("drafter failures: a draft that is kept and has no room is an error, no failure") {
    failing_pair x;
    const std::vector<target_id> prompt = x.words.encode("ab c");
    const auto text = x.pair.open({.prompt = prompt}, fixed(rule::tli, 1));
    REQUIRE(text->draft(100));
    REQUIRE(text->rows_needed() > 2);
    CHECK_THROWS_WITH((void)text->draft(prompt.size() + 1), Contains("expected room for the"));
    CHECK(text->result().drafter_failures == 0);
    CHECK(text->draft(100));
}

TEST_CASE("drafter failures: rounds that failed teach lengths nothing") {
    learned_lengths learned;
    learned.go_by({.pass = {1, 1.01}, .draft = 0.01, .catch_up = 0}, true);
    text_lengths text({}, 4, learned, 1, 1);
    text.begin_draft_round();
    text.learn({.emitted = 1}, {1, 0}); // the prompt's
    REQUIRE(text.rule().more({}));
    const law_version table = learned.table.version();
    const cost_table costs = learned.costs.now();
    for (int i = 0; i < 100; ++i) {
        text.begin_draft_round();
        text.learn_nothing(1); // whatever it took
    }
    text.begin_draft_round();
    CHECK(learned.table.version() == table);
    CHECK(learned.costs.now() == costs);
    CHECK(text.rule().more({}));
    const law_version awake = text.rule().version();
    text.rest(true);
    CHECK_FALSE(text.rule().more({}));
    CHECK(text.rule().version() != awake);
    text.end(); // the next text does not begin with a rest
    CHECK(learned.last->more({}));
}

TEST_CASE("drafter failures: in a batch the others keep their drafts") {
    failing_pair x(2);
    const std::vector<target_id> prompt = x.words.encode("ab c");
    const std::vector<text_request> both{{.prompt = prompt, .sequence = 0},
                                         {.prompt = prompt, .sequence = 1}};
    const decode_settings s = fixed(rule::tli, 1);
    const decode_results whole = x.pair.run(both, s);
    x.pair.forget();
    x.draft.fails = [](auto, std::size_t sequence) { return sequence == 1; };
    const decode_results found = x.pair.run(both, s);
    found.require_none_failed();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        kept += found.texts[i].drafter_failures == 0 ? 1U : 0U;
        if (found.texts[i].drafter_failures == 0) {
            CHECK(found.texts[i].tokens == whole.texts[i].tokens);
            CHECK(found.texts[i].counts.accepted == whole.texts[i].counts.accepted);
        }
    }
    CHECK(kept == 1);
}

TEST_CASE("drafter failures: a lookup speaks in the drafter's place") {
    failing_pair x;
    decode_settings s = fixed(rule::tli, 0);
    s.lookup = {.beside = true, .shared = false};
    s.limits.max_tokens = 60;
    x.draft.fails = [](auto, auto) { return true; };
    const decode_result found = x.pair.generate("abcabcabcabc", s);
    CHECK(found.drafter_failures > 0);
    CHECK(found.counts.looked_up > 0);
}

} // namespace drafter_failures_tests
