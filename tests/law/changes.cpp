// SPDX-License-Identifier: MIT
// What a draft's law or a stop rule reads may change between rounds, never between a draw and the
// decision about it: there it is kept, or the round is refused. Lists that follow text and target,
// windows, thresholds, tables of lengths; one text, and texts that take turns. Enumerated.
#include <specdec/decode/session.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/shared_model.hpp>
#include <specdec/decode/outcome_of.hpp>
#include <specdec/draft/counted/cache_mixture_model.hpp>
#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/windowed_drafter.hpp>
#include <specdec/head/adaptive/adaptive_model.hpp>
#include <specdec/head/adaptive/topk_recorder.hpp>
#include <specdec/head/exits/confidence_exit.hpp>
#include <specdec/head/exits/early_exit_model.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/source/lookup_or_draft.hpp>
#include <specdec/speculation/text_lengths.hpp>

#include "support/course/course_text.hpp"
#include "support/toy_exits.hpp"
#include "support/toy_head.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace changes_tests {

/// The same words on both sides, one of which joins two others.
const toy_words& equal_words() {
    static const toy_words two({"a", "b", "c", "ab"}, {"a", "b", "c", "ab"});
    return two;
}
/// The target joins what the drafter spells.
const toy_words& joining_words() {
    static const toy_words two({"a", "b", "ab", "aab"}, {"a", "b"});
    return two;
}

/// A drafter whose list holds three of four tokens and follows text and target.
struct following_drafter {
    toy_hidden_model<draft_id> model;
    toy_head<draft_id> head = toy_head<draft_id>::unit(4);
    token_list<draft_id> list{ids_of({0, 2, 3}), 4};
    trimmed_head<draft_id, toy_head<draft_id>> part{head, list};
    headed_model<decltype(model), decltype(part)> rows{model, part};
    adaptive_token_list<draft_id> hot{list, {}, {.half_life = 1, .likely = 0.5}};
    adaptive_model<decltype(rows), decltype(part)> draft;

    following_drafter(row_tree& q, target_topk& likely)
        : model(4, 4, [&q](const sequence& prefix) { return q(prefix); }),
          draft(rows, part, hot, &likely) {}
};

TEST_CASE("a list that holds what the target found likely stays as it was while slrs decides",
          "[law]") {
    const toy_words& two = equal_words();
    const std::vector<scenario> courses{
        {"not used, then longer",
         {{.gamma = 1, .room = 2, .what = then::nothing}, {.gamma = 2, .room = 2}},
         1},
        {"abandoned and redone",
         {{.gamma = 1, .room = 2, .what = then::abandon}, {.gamma = 1, .room = 2}},
         2},
        {"used, then again", {{.gamma = 1, .room = 1}, {.gamma = 2, .room = 2}}, 2}};
    for (const scenario& s : courses)
        for (const bool constant : {true, false}) {
            row_tree p(constant ? same_rows({0.15F, 0.4F, 0.1F, 0.35F})
                                : toy_rows(row_kind::random, 4, 70));
            row_tree q(constant ? same_rows({0.4F, 0.3F, 0.2F, 0.1F})
                                : toy_rows(row_kind::random, 4, 71));
            const auto make = [&](auto&, const auto& use) {
                auto toy = model_of<target_id>(p);
                target_topk likely(2, 4);
                topk_recorder target(toy, likely);
                following_drafter follows(q, likely);
                model_drafter drafter(follows.draft);
                use(target, drafter);
            };
            CAPTURE(s.name, constant);
            CHECK(play(made_world{p, make}, two.slrs(0), by_rejection, s).deviation() < exact);
        }
}

sequence beginning(std::span<const target_id> text, std::size_t n) {
    return values_of(text.subspan(1, n)); // behind the prompt
}

/// use(a, b) with sessions of two texts.
template <class WithBridge, class Use>
void with_two(const WithBridge& with_bridge, std::size_t max_draft, const Use& use) {
    with_bridge(max_draft, [&](auto bridge) {
        session a(bridge, by_rejection, session_settings{.capacity = 16});
        session b(bridge, by_rejection, session_settings{.capacity = 16});
        a.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
        b.start(std::vector{target_id{1}}, std::vector{draft_id{0}});
        use(a, b);
    });
}

/// A drafter whose law follows what all texts say.
struct counting_drafter {
    toy_model<draft_id> model;
    successor_counts said{64};
    cache_mixture_model<toy_model<draft_id>> draft;

    counting_drafter(row_tree& q, target_topk&)
        : model(
              4,
              [&q](std::span<const draft_id> prefix) -> const auto& {
                  return q(prefix.subspan(1));
              },
              0, 16),
          draft(model, {.shared = &said}) {}
};

/// One model that follows, for two texts whose rounds overlap: the second one drafts, decides and
/// commits between the first one's draft and decision. How many rounds were refused.
template <class Following = following_drafter, class WithBridge>
std::size_t overlapping(const WithBridge& with_bridge, pair_law& law, row_tree& p, row_tree& q) {
    std::size_t refused = 0;
    law = on_every_path([&](interval_coin& coin) {
        auto toy = model_of<target_id>(p);
        target_topk likely(2, 4);
        topk_recorder recorded(toy, likely);
        shared_model<target_id, decltype(recorded)> target(recorded);
        Following follows(q, likely);
        shared_model<draft_id, decltype(follows.draft)> shared(follows.draft);
        model_drafter drafter(shared);
        coin_of_text<interval_coin> one{&coin, 0}, other{&coin, 1};
        std::pair<sequence, sequence> texts;
        with_two(with_bridge, 1, [&](auto& a, auto& b) {
            const auto decide = [&](auto& text, coin_of_text<interval_coin>& own) {
                try {
                    text.commit(text.verify(text.score(target), own).tokens.size());
                } catch (const error& problem) {
                    refused += Contains("drafter").match(problem.what()) ? 1U : 0U;
                }
            };
            for (std::size_t i = 0; a.tokens().size() < 2 || b.tokens().size() < 2; ++i) {
                const fixed_length now{i < 2 ? 1U : 0U};
                (void)a.prepare(target);
                a.draft(drafter, now, one, 2);
                if (b.tokens().size() < 2) { // and not when the first one drafts again
                    (void)b.prepare(target);
                    b.draft(drafter, now, other, 2);
                    decide(b, other);
                }
                decide(a, one);
            }
            texts = {beginning(a.tokens(), 1), beginning(b.tokens(), 1)};
        });
        return texts;
    });
    return refused;
}

TEST_CASE("texts whose rounds overlap share a list: slrs refuses, tli keeps its laws", "[law]") {
    row_tree p(toy_rows(row_kind::random, 4, 80)), q(toy_rows(row_kind::random, 4, 81));
    pair_law law;
    CHECK(overlapping(equal_words().slrs(0), law, p, q) > 0);
    CHECK(total_variation(law, both_alone(p, 1)) < 1e-12);   // a refused round is drafted again
    const auto beside = [](std::size_t n, const auto& use) { // a lookup that found nothing
        equal_words().slrs(0)(n, [&](auto bridge) {
            using lookup_type = lookup_with<prompt_lookup, toy_words::target_words, lookup_turns>;
            use(lookup_or_draft<decltype(bridge), prompt_lookup, toy_words::target_words,
                                interval_number>(std::move(bridge), std::optional<lookup_type>(),
                                                 n));
        });
    };
    CHECK(overlapping(beside, law, p, q) > 0);
    CHECK(total_variation(law, both_alone(p, 1)) < 1e-12);
    CHECK(overlapping(equal_words().tli(), law, p, q) == 0);
    CHECK(total_variation(law, both_alone(p, 1)) < 1e-12);
}

TEST_CASE("texts whose rounds overlap are counted together: slrs refuses, tli keeps its laws",
          "[law]") {
    row_tree p(toy_rows(row_kind::random, 4, 80)), q(toy_rows(row_kind::random, 4, 81));
    pair_law law;
    CHECK(overlapping<counting_drafter>(equal_words().slrs(0), law, p, q) > 0);
    CHECK(total_variation(law, both_alone(p, 1)) < 1e-12);
    CHECK(overlapping<counting_drafter>(equal_words().tli(), law, p, q) == 0);
    CHECK(total_variation(law, both_alone(p, 1)) < 1e-12);
}

/// Two texts that take turns under slrs, and teach one table: the second one commits between the
/// first one's draft and decision. make_lengths(learned): the stop rule of a text.
template <class Lengths, class MakeLengths, class WithBridge>
double taking_turns(const MakeLengths& make_lengths, const WithBridge& with_bridge,
                    const toy_words& two, row_tree& p, row_tree& q) {
    const auto law = on_every_path([&](interval_coin& coin) {
        auto toy = model_of<target_id>(p);
        shared_model<target_id, decltype(toy)> target(toy);
        auto first_model = model_of<draft_id>(q), second_model = model_of<draft_id>(q);
        model_drafter first(first_model), second(second_model);
        learned_lengths learned{.table = acceptance_table(0.6)};
        const auto stop = make_lengths(learned), other_stop = make_lengths(learned);
        coin_of_text<interval_coin> one{&coin, 0};
        philox_coin other(3); // its draws are no part of the first text's law
        sequence found;
        with_two(with_bridge, 2, [&](auto& a, auto& b) {
            const auto decide = [&](auto& text, auto& own, Lengths& lengths) {
                const round_result r = text.verify(text.score(target), own);
                lengths.learn(outcome_of(r, two.target, two.draft));
                text.commit(r.tokens.size());
            };
            for (std::size_t i = 0; a.tokens().size() < 3; ++i) {
                stop->begin_draft_round();
                a.draft(first, stop->rule(), one, 3);
                if (i < 2) {
                    other_stop->begin_draft_round();
                    b.draft(second, other_stop->rule(), other, 3);
                    decide(b, other, *other_stop);
                }
                decide(a, one, *stop);
            }
            found = beginning(a.tokens(), 2);
        });
        return found;
    });
    return total_variation(law, target_alone(p, 2));
}

TEST_CASE("a text's draft lengths are those of its draft, whatever other texts learn", "[law]") {
    const toy_words& two = joining_words();
    for (const length_kind kind : {length_kind::predicted, length_kind::automatic})
        for (const bool constant : {true, false}) {
            row_tree p(constant ? same_rows({0.3F, 0.2F, 0.3F, 0.2F})
                                : toy_rows(row_kind::random, 4, 90));
            row_tree q(constant ? same_rows({0.6F, 0.4F}) : toy_rows(row_kind::random, 2, 91));
            const length_settings settings{.kind = kind, .length = 2, .threshold = 0.43};
            const auto make = [&](learned_lengths& learned) {
                learned.go_by({.pass = {1, 1.2, 1.5}, .draft = 0.2, .catch_up = 0}, false);
                return std::make_unique<text_lengths>(settings, 2, learned, 1, 1);
            };
            CAPTURE(name(kind), constant);
            CHECK(taking_turns<text_lengths>(make, two.slrs(0), two, p, q) < 1e-12);
        }
}

/// Lengths by costs that follow the rounds, which take what their lengths say.
struct following {
    text_lengths lengths;
    following(const length_settings& settings, learned_lengths& learned)
        : lengths(settings, 2, learned, 1, 1) {
        lengths.learn({}, {.pass = 0.01, .rest = 0}); // its prompt
    }
    void begin_draft_round() { lengths.begin_draft_round(); }
    [[nodiscard]] const length_rule& rule() const { return lengths.rule(); }
    void learn(const draft_outcome& o) {
        const auto forwards = static_cast<double>(o.forwards);
        lengths.learn(o, {.pass = 0.01, .rest = o.rejected ? 0.02 * forwards : 0.001});
    }
};

TEST_CASE("costs that follow the rounds of all texts keep each text's law", "[law]") {
    const toy_words& two = joining_words();
    row_tree p(toy_rows(row_kind::random, 4, 92)), q(toy_rows(row_kind::random, 2, 93));
    const auto make = [&](learned_lengths& learned) {
        if (!learned.follows) {
            learned.go_by({.pass = {1, 1.1, 1.2}, .draft = 0.3, .catch_up = 0}, true);
            for (int i = 0; i < 3; ++i)
                learned.costs.learn({}, {.pass = 0.01, .rest = 0});
        }
        return std::make_unique<following>(length_settings{.length = 2}, learned);
    };
    CHECK(taking_turns<following>(make, two.slrs(0), two, p, q) < 1e-12);
    CHECK(taking_turns<following>(make, two.tli(), two, p, q) < 1e-12);
}

/// A stop rule on the shared table itself, which other texts change.
struct on_the_table {
    predicted_end<acceptance_table> end;
    void begin_draft_round() {}
    [[nodiscard]] const auto& rule() const { return end; }
    void learn(const draft_outcome& o) { end.learn(o); }
};

TEST_CASE("a stop rule that changed between draft and decision is refused", "[law]") {
    const toy_words& two = joining_words();
    row_tree p(same_rows({0.3F, 0.2F, 0.3F, 0.2F})), q(same_rows({0.6F, 0.4F}));
    const auto make = [](learned_lengths& learned) {
        return std::make_unique<on_the_table>(predicted_end(learned.table, 0.43, 2));
    };
    CHECK_THROWS_WITH(taking_turns<on_the_table>(make, two.slrs(0), two, p, q),
                      Contains("stop rule") &&
                          Contains("between a round's draft and its verification"));
    CHECK(taking_turns<on_the_table>(make, two.tli(), two, p, q) < 1e-12);
}

TEST_CASE("whatever a drafter or stop rule reads has a mark that moves with it") {
    exit_thresholds tau({0.5, 0.7});
    confidence_exit choice(tau);
    const law_version before = choice.version();
    choice.thresholds().set(1, 0.6);
    CHECK(choice.version() != before);
    choice.thresholds().set(1, 0.7);
    CHECK(choice.version() == before); // the same answers again

    toy_model<draft_id> model(
        4, [](const std::vector<draft_id>&) { return std::vector<float>(4); }, 0, 16);
    model_drafter inner(model);
    windowed_drafter windowed(inner, {.keep = 1, .block = 4, .room = 0});
    windowed.begin_draft_round(10);
    const law_version short_text = windowed.version();
    windowed.begin_draft_round(12);
    CHECK(windowed.version() == short_text); // both fit
    windowed.begin_draft_round(20);
    CHECK(windowed.version() != short_text);

    acceptance_table table;
    const law_version untaught = table.version();
    table.learn({.emitted = 1}); // decided nothing: the same answers
    CHECK(table.version() == untaught);
    const draft_progress first{.drafted = 1};
    table.learn({.steps = {&first, 1}, .kept = 1});
    CHECK(table.version() != untaught);

    toy_head<draft_id> head = toy_head<draft_id>::unit(4);
    trimmed_head part(head, token_list<draft_id>(ids_of({1, 3}), 4));
    const law_version list = part.version();
    toy_hidden_model<draft_id> states(4, 4, [](const sequence&) { return std::vector<float>(4); });
    const headed_model headed(states, part);
    const law_version rows = headed.version(0);
    part.replace(0, draft_id{2});
    CHECK(part.version() != list);
    CHECK(headed.version(0) != rows);

    toy_exits exits(4, 2, [](std::size_t, const sequence&) { return std::vector<float>(4); });
    const early_exit_model early(exits, choice);
    const law_version spoken = early.version(0);
    choice.thresholds().set(1, 0.8);
    CHECK(early.version(0) != spoken);
}

} // namespace changes_tests
