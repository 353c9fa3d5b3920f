// SPDX-License-Identifier: MIT
// Lookup beside a drafter: sessions of several rounds, some of which the lookup speaks in and some
// the drafter, have the target's law under every bridge and every lossless rule, and so have,
// together, two texts that take turns with one index (tests/law/together.cpp: in lockstep).
#include <specdec/source/lookup_or_draft.hpp>

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/lookup/suffix_lookup.hpp>

#include "play.hpp"
#include "toy_bridges.hpp"
#include "two_texts.hpp"

namespace lookup_or_draft_tests {

using namespace specdec;
using namespace specdec::testing;
using words_type = toy_words::target_words;

/// A pair, a prompt whose end was seen before, and rows of what follows it.
struct texts {
    const toy_words& two;
    std::vector<target_id> prompt;
    cost_table costs{{1, 1.1, 1.2, 1.3}, 0.1, 0};

    texts(const toy_words& words, const std::string& text)
        : two(words), prompt(encoded(words.target, text)) {}
    [[nodiscard]] toy_model<target_id> target(row_tree& p) const {
        return model_behind<target_id>(p, prompt.size());
    }
    /// Behind the first tokens, whatever the prompt became.
    [[nodiscard]] toy_model<draft_id> draft(row_tree& q) const {
        return model_behind<draft_id>(q, prompt.size());
    }
    template <class B, class Lookup>
    [[nodiscard]] auto beside(B bridge, Lookup lookup, acceptance_table& table) const {
        return lookup_or_draft<B, Lookup, words_type, interval_number>(
            std::move(bridge),
            lookup_with<Lookup, words_type, lookup_turns>{{std::move(lookup), two.target, 2},
                                                          lookup_turns(table, costs, costs)},
            16);
    }
};

struct spoken {
    std::size_t drafted = 0, found = 0, both = 0; // rounds; texts in which both spoke
};

/// Scenarios of a bridge beside which is looked up, under the rules given.
template <class WithBridge, class... Rules>
spoken check_beside(const char* name, const texts& t, const std::vector<scenario>& all,
                    const WithBridge& with_bridge, const Rules&... rules) {
    spoken seen;
    const auto saw = [&](const statistics& c) {
        seen.found += c.looked_up;
        seen.drafted += c.draft_tokens;
        seen.both += c.looked_up > 0 && c.draft_tokens > 0 ? 1U : 0U;
    };
    std::uint64_t seed = 6000;
    const auto check = [&](const auto& rule) {
        law_ledger ledger;
        for (scenario s : all)
            for (const auto& [p_kind, q_kind] : {std::pair{row_kind::random, row_kind::random},
                                                 {row_kind::zeros, row_kind::ties}}) {
                row_tree p(toy_rows(p_kind, t.two.target_size(), ++seed));
                row_tree q(toy_rows(q_kind, t.two.draft_size(), ++seed));
                const auto models = [&](auto&, const auto& use) {
                    auto target = t.target(p);
                    auto draft = t.draft(q);
                    model_drafter drafter(draft);
                    use(target, drafter);
                };
                const auto beside = [&](std::size_t n, const auto& use) {
                    acceptance_table table;
                    with_bridge(n, [&](auto bridge) {
                        use(t.beside(std::move(bridge), prompt_lookup(1024), table));
                    });
                };
                s.start.prompt = t.prompt;
                s.start.prefix = {};
                CAPTURE(name, s.name, static_cast<int>(p_kind), rule.name);
                ledger.check(play(made_world{p, models}, beside, rule, watched{s, saw}));
            }
        ledger.print(name, rule.name);
    };
    (check(rules), ...);
    return seen;
}

const toy_words& equal_words() {
    static const toy_words two({"a", "b", "ab"}, {"a", "b", "ab"});
    return two;
}

TEST_CASE("lookup beside a drafter has the target's law under every rule", "[law]") {
    const auto check = [](const char* name, const texts& t, const auto& with_bridge,
                          const std::vector<scenario>& all) {
        const spoken seen = check_beside(name, t, all, with_bridge, by_rejection, by_block,
                                         by_match, by_coupling(t.two.keys));
        CHECK(seen.found > 100);
        CHECK(seen.drafted > 100);
        CHECK(seen.both > 100);
    };
    const texts one(equal_words(), "bbabbabb"), two(permuted_words(), "bbabbabb");
    check("identity, lookup", one, one.two.identity(), every_scenario(target_id{2}));
    check("tli, lookup", two, two.two.tli(), every_scenario(target_id{2}));
    check("union, lookup", two, two.two.union_of(), short_scenarios(target_id{2}));
    check("nested, lookup", two, two.two.nested(), short_scenarios(target_id{2}));
    check("slem, lookup", two, two.two.slem(), short_scenarios(target_id{2}));
}

TEST_CASE("lookup beside a drafter whose law is asked again has the target's law", "[law]") {
    const texts two(permuted_words(), "bbabbabb");
    const spoken slrs = check_beside("slrs, lookup", two, short_scenarios(target_id{2}),
                                     two.two.slrs(0.02), by_rejection, by_block, by_match);
    CHECK(slrs.found > 100);
    CHECK(slrs.both > 100);
    const spoken merge = check_beside("merge, lookup", two, short_scenarios(target_id{2}),
                                      two.two.merge(0.02, {{{1, 0}, 2}}), by_rejection, by_block);
    CHECK(merge.found > 100);
    CHECK(merge.both > 100);
}

TEST_CASE(
    "a lookup speaks for a drafter that has drawn nothing, never for one whose draw ended the "
    "draft",
    "[law]") {
    // The third draft token ends a draft before it has a token of the target.
    static const toy_words two({"a", "b"}, {"b", "a", "<x>"});
    const texts t(two, "bbabbabb");
    const cost_table costs{{1, 1.01, 1.02, 1.03}, 0.01, 0};
    const auto check = [&](const auto& rule, const std::vector<step>& steps) {
        std::size_t found = 0, drafted = 0;
        const auto saw = [&](const statistics& c) {
            found += c.looked_up;
            drafted += c.draft_tokens;
        };
        for (std::uint64_t seed = 6300; seed < 6306; ++seed) {
            row_tree p(toy_rows(row_kind::random, 2, seed)), q(toy_rows(row_kind::random, 3, seed));
            const auto models = [&](auto&, const auto& use) {
                auto target = t.target(p);
                auto draft = t.draft(q);
                model_drafter drafter(draft);
                use(target, drafter);
            };
            const auto beside = [&](std::size_t n, const auto& use) {
                acceptance_table table;
                lookup_turns turns(table, costs, costs);
                for (int i = 0; i < 200; ++i) // the drafter's rounds are worth more
                    turns.learn({.proposed = 2, .drafted = 2, .committed = 3}, {});
                two.slrs(0)(n, [&](auto bridge) {
                    use(lookup_or_draft<decltype(bridge), prompt_lookup, words_type,
                                        interval_number>(
                        std::move(bridge),
                        lookup_with<prompt_lookup, words_type, lookup_turns>{
                            {prompt_lookup(1024), two.target, 2}, turns},
                        16));
                });
            };
            scenario s{.name = "drawn", .steps = steps, .length = 2};
            s.start.prompt = t.prompt;
            s.start.prefix = {};
            CAPTURE(rule.name, seed);
            CHECK(play(made_world{p, models}, beside, rule, watched{s, saw}).deviation() < exact);
        }
        return std::pair{found, drafted};
    };
    const auto for_rules = [&](const auto& use) {
        use(by_rejection);
        use(by_block);
        use(by_match);
    };
    for_rules([&](const auto& rule) {
        const auto [found, drafted] = check(rule, {{.gamma = 1, .room = 2}, {.gamma = 1}});
        CHECK(drafted > 0);
        CHECK(found == 0);
        const auto [instead, none] = check(rule, {{.gamma = 0}, {.gamma = 0}});
        CHECK(instead > 0); // the stop rule wants no draft
        CHECK(none == 0);
    });
}

TEST_CASE("two texts beside whose drafters is looked up in one index have the target's law",
          "[law][computes]") {
    std::size_t turned = 0, accepted = 0;
    const auto spoke = [](const auto& decoder) { return decoder.bridge().looked_up(); };
    // Of one prompt, where each changes what the other is proposed; and of two.
    for (const auto& [prompt, others] : {std::pair{"abbabaab", "abbabaab"}, {"bbabb", "bbab"}}) {
        const texts t(equal_words(), prompt), u(equal_words(), others);
        std::uint64_t seed = 6700;
        for (const course& c : courses_of_two(1)) {
            row_tree p(toy_rows(row_kind::random, 3, ++seed)),
                q(toy_rows(row_kind::random, 3, 100 + seed));
            const auto check = [&](const auto& with_bridge, const auto& rule) {
                CAPTURE(prompt, rule.name);
                check_two_texts(p, c, [&](interval_coin& coin, const auto& use) {
                    byte_index index({.bytes = 1024, .short_ends = true});
                    acceptance_table table;
                    auto a = t.target(p), b = u.target(p);
                    auto first = t.draft(q), second = u.draft(q);
                    model_drafter one(first), other(second);
                    two_texts world(spoke, turned);
                    const auto add = [&](const texts& own, auto& target, auto& drafter) {
                        with_bridge(std::size_t{1}, [&](auto bridge) {
                            session decoder(
                                own.beside(std::move(bridge), shared_suffixes(index), table), rule,
                                session_settings{.capacity = 24});
                            decoder.start(own.prompt);
                            world.add(std::move(decoder), target, drafter, coin);
                        });
                    };
                    add(t, a, one);
                    add(u, b, other);
                    use(world);
                    accepted += world.accepted();
                });
            };
            check(t.two.identity(), by_rejection);
            check(t.two.identity(), by_block);
            check(t.two.slrs(0), by_rejection);
            check(t.two.slem(), by_match);
        }
    }
    CHECK(turned > 0);
    CHECK(accepted > 1000);
}

} // namespace lookup_or_draft_tests
