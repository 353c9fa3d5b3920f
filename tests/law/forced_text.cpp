// SPDX-License-Identifier: MIT
// Text that a grammar forces: sessions of several rounds, with a drafter beside it or without, have
// the target's distribution under every bridge and every lossless rule, whether the target's rows
// are masked by the grammar or not (where forced text is of no use).
#include <specdec/draft/lookup/forced_text.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/lookup/guided_lookup.hpp>
#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/processed_drafter.hpp>
#include <specdec/process/grammar_mask.hpp>
#include <specdec/process/processed_rows.hpp>
#include <specdec/source/lookup_branch.hpp>
#include <specdec/source/lookup_or_draft.hpp>
#include <specdec/source/lookup_source.hpp>
#include <specdec/verify/tree/coupled_tree_match.hpp>

#include "toy_bridges.hpp"
#include "tree_law.hpp"

namespace forced_text_law_tests {

using namespace specdec;
using namespace specdec::testing;
using words_type = toy_words::target_words;

/// Behind every a two b have to follow; at the beginning `first` of them.
struct two_b {
    using state_type = int; // b that have to follow
    int first = 0;
    [[nodiscard]] int begin() const { return first; }
    static bool step(int& left, char byte) {
        const bool fits = byte == 'b' || (byte == 'a' && left == 0);
        left = byte == 'a' ? 2 : left > 0 ? left - 1 : 0;
        return fits;
    }
    [[nodiscard]] static bool complete(int) { return false; }
};
using forced_type = forced_text<two_b>;

/// The rows that p gives under the grammar, by its definition.
row_tree masked(row_tree& p, const words_type& words, int first) {
    return row_tree([&p, &words, first](const sequence& prefix) {
        std::vector<float> row = p(prefix);
        for (std::size_t t = 0; t < row.size(); ++t) {
            std::string text = first == 2 ? "a" : first == 1 ? "ab" : "";
            for (const int x : prefix)
                text += words.bytes(target_id{x});
            text += words.bytes(id_at<target_id>(t));
            for (std::size_t i = 0; i < text.size(); ++i)
                for (std::size_t k = i + 1; k <= i + 2 && k < text.size(); ++k)
                    if (text[i] == 'a' && text[k] == 'a')
                        row[t] = -__builtin_inff();
        }
        return row;
    });
}

/// A pair, a prompt, and a grammar behind it.
struct texts {
    const toy_words& two;
    two_b grammar;
    bool on_target; ///< whether the target's rows are masked
    std::string text = "bab";
    byte_order<target_id> order{two.target};
    cost_table costs{{1, 1.05, 1.1, 1.15}, 0.1, 0};

    [[nodiscard]] forced_type forced() const { return {grammar, text.size()}; }
    [[nodiscard]] auto guided() const { return guided_lookup(prompt_lookup(1024), forced()); }
    template <class Id, class Words>
    [[nodiscard]] auto mask(const Words& words, const byte_order<Id>& own) const {
        return grammar_mask<Id, two_b, Words>(grammar, words, own, text.size(), {});
    }
    /// use(what makes the target's distributions, the rows that they have to be those of)
    template <class Use>
    void with_rows(row_tree& p, const Use& use) const {
        if (!on_target)
            return use(softmax_rows{}, p);
        row_tree wanted = masked(p, two.target, grammar.first);
        use(processed_rows(two.target_size(), mask(two.target, order)), wanted);
    }
    /// ahead: what drafters have shown to give beyond forced text.
    template <class B, class Lookup>
    [[nodiscard]] auto beside(B bridge, Lookup lookup, acceptance_table& table,
                              drafter_ahead& ahead) const {
        return lookup_or_draft<B, Lookup, words_type, interval_number>(
            std::move(bridge),
            lookup_with<Lookup, words_type, lookup_turns>{
                {std::move(lookup), two.target, 2}, lookup_turns(table, costs, costs, &ahead)},
            16);
    }
};

struct spoken {
    std::size_t drafted = 0, found = 0, accepted = 0, both = 0; // both: texts in which both spoke

    void count(const statistics& c) {
        found += c.looked_up;
        accepted += c.looked_up_accepted;
        drafted += c.draft_tokens;
        both += c.looked_up > 0 && c.draft_tokens > 0 ? 1U : 0U;
    }
};

/// Scenarios of bridges that with_bridge makes, under the rules given. Drafts are masked if
/// mask_drafts.
template <class WithBridge, class... Rules>
spoken check_forced(const char* name, const texts& t, std::vector<scenario> all, bool mask_drafts,
                    const WithBridge& with_bridge, const Rules&... rules) {
    spoken seen;
    const auto saw = [&](const statistics& c) { seen.count(c); };
    const byte_order<draft_id> pieces(t.two.draft);
    std::uint64_t seed = 8000;
    const auto check = [&](const auto& rule) {
        law_ledger ledger;
        for (scenario s : all)
            for (const row_kind q_kind : {row_kind::random, row_kind::zeros}) {
                row_tree p(toy_rows(row_kind::random, t.two.target_size(), ++seed));
                row_tree q(toy_rows(q_kind, t.two.draft_size(), ++seed));
                const std::vector<target_id> prompt = encoded(t.two.target, t.text);
                const auto models = [&](auto&, const auto& use) {
                    auto target = model_behind<target_id>(p, prompt.size());
                    auto draft = model_behind<draft_id>(q, prompt.size());
                    model_drafter plain(draft);
                    if (!mask_drafts)
                        return use(target, plain);
                    processed_drafter drafter(plain, t.mask(t.two.draft, pieces));
                    use(target, drafter);
                };
                s.start.prompt = prompt;
                s.start.prefix = {};
                CAPTURE(name, s.name, static_cast<int>(q_kind), rule.name, t.on_target);
                t.with_rows(p, [&](const auto& laws, row_tree& wanted) {
                    played found =
                        play(made_world{p, models}, with_bridge, rule, watched{s, saw}, laws);
                    found.wanted = target_alone(wanted, s.length, s.target);
                    ledger.check(found);
                });
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
const toy_words& wide_words() { // "bb" goes on across the end of what is forced
    static const toy_words two({"a", "b", "bba", "bb"}, {"b", "a", "bb", "ab"});
    return two;
}

TEST_CASE("sessions with forced text alone have the target's distribution", "[law]") {
    for (const bool on_target : {true, false})
        for (const toy_words* two : {&permuted_words(), &wide_words()})
            for (const int first : {0, 2}) {
                const texts t{*two, {first}, on_target};
                const auto alone = [&](std::size_t, const auto& use) {
                    use(lookup_source(t.forced(), t.two.target, {.max_draft = 3}));
                };
                const auto all = two == &wide_words() ? short_scenarios(target_id{2})
                                                      : every_scenario(target_id{2});
                const spoken seen = check_forced("forced", t, all, false, alone, by_rejection,
                                                 by_block, by_match, by_coupling(t.two.keys));
                CHECK(seen.found > 100);
                CHECK(seen.drafted == 0);
                CHECK(seen.accepted > 0);
                if (on_target && two == &permuted_words())
                    CHECK(seen.accepted == seen.found); // b, b: no other token has these bytes
            }
}

TEST_CASE("sessions with looked-up text under a grammar have the target's distribution", "[law]") {
    for (const bool on_target : {true, false}) {
        texts t{permuted_words(), {0}, on_target};
        t.text = "abbabbab"; // "babb.." was seen, and behind ab a b is forced
        const auto alone = [&](std::size_t, const auto& use) {
            use(lookup_source(t.guided(), t.two.target, {.max_draft = 3}));
        };
        const spoken seen =
            check_forced("guided lookup", t, short_scenarios(target_id{2}), false, alone,
                         by_rejection, by_block, by_match, by_coupling(t.two.keys));
        CHECK(seen.found > 100);
        CHECK(seen.accepted > 0);
        CHECK(seen.accepted < seen.found);
    }
}

TEST_CASE("forced text beside a drafter leaves the target's distribution under every bridge",
          "[law][computes]") {
    const auto check = [](const char* name, const toy_words& own, const auto& with_bridge,
                          const auto&... rules) {
        for (const bool on_target : {true, false})
            for (const int first : {0, 1}) {
                const texts t{own, {first}, on_target};
                const auto beside = [&](std::size_t n, const auto& use) {
                    acceptance_table table; // each path learns anew
                    drafter_ahead ahead;    // after rounds that were worth nothing
                    for (int i = 0; i < 2; ++i)
                        ahead.count(-0.1);
                    with_bridge(n, [&](auto bridge) {
                        use(t.beside(std::move(bridge), t.forced(), table, ahead));
                    });
                };
                const spoken seen = check_forced(name, t, short_scenarios(target_id{2}),
                                                 on_target && first == 0, beside, rules...);
                CHECK(seen.found > 10);
                CHECK(seen.drafted > 10);
                CHECK(seen.both > 10);
            }
    };
    const toy_words& two = permuted_words();
    check("identity, forced", equal_words(), equal_words().identity(), by_rejection, by_block,
          by_match);
    check("tli, forced", two, two.tli(), by_rejection, by_block, by_match, by_coupling(two.keys));
    check("union, forced", two, two.union_of(), by_rejection, by_block);
    check("nested, forced", two, two.nested(), by_rejection, by_block);
    check("slem, forced", two, two.slem(), by_match, by_coupling(two.keys));
    check("spelling, forced", two, two.spelling(), by_coupling(two.keys));
    check("slrs, forced", two, two.slrs(0.02), by_rejection, by_block);
    check("merge, forced", two, two.merge(0.02, {{{1, 0}, 2}}), by_rejection, by_block);
}

TEST_CASE("forced text as a branch of a tree leaves the target's distribution", "[law]") {
    const std::vector<std::vector<tree_step<fixed_tree>>> courses{
        {{tree_of({2})}, {tree_of({2})}},
        {{tree_of({2, 1})}, {tree_of({1})}},
        {{tree_of({1}), use::part}, {.shape = tree_of({2}), .by_last_round = true}},
        {{tree_of({2}), use::abandon}, {tree_of({2}), use::commit}}};
    spoken seen;
    const auto check = [&](const char* name, const auto& rule) {
        std::uint64_t seed = 8800;
        tree_ledger ledger;
        for (const sibling_draw siblings : sibling_draws)
            for (const auto& steps : courses)
                for (const bool on_target : {true, false}) {
                    const texts t{permuted_words(), {2}, on_target};
                    row_tree p(toy_rows(row_kind::random, 3, ++seed)),
                        q(toy_rows(row_kind::random, 4, ++seed));
                    const std::vector<target_id> prompt = encoded(t.two.target, t.text);
                    t.with_rows(p, [&](const auto& laws, row_tree& wanted) {
                        const joint_law law = on_every_path([&](interval_coin& coin) {
                            auto target = model_behind<target_id, toy_tree_model<target_id>>(
                                p, prompt.size());
                            auto model =
                                model_behind<draft_id, toy_tree_model<draft_id>>(q, prompt.size());
                            model_drafter drafter(model);
                            acceptance_table table;
                            auto bridge = t.two.tli_trees()(
                                {.max_nodes = 16, .max_depth = 8, .siblings = siblings});
                            using branch = lookup_branch<decltype(bridge), forced_type, words_type,
                                                         interval_number>;
                            session text(
                                branch(std::move(bridge),
                                       typename branch::lookup_type{{t.forced(), t.two.target, 2},
                                                                    lookup_length(table, t.costs)}),
                                rule, session_settings{.capacity = 24}, laws);
                            text.start(prompt);
                            const sequence found = run_trees(text, target, drafter, coin, steps, 2);
                            seen.count(text.counts());
                            return found;
                        });
                        CAPTURE(name, static_cast<int>(siblings), on_target);
                        ++ledger.laws;
                        ledger.check(law, target_alone(wanted, 2));
                    });
                }
        ledger.report(name);
    };
    for_rules(check);
    check("coupled", coupled_tree_match(permuted_words().keys));
    CHECK(seen.found > 1000);
    CHECK(seen.drafted > 1000);
    CHECK(seen.accepted > 100);
}

} // namespace forced_text_law_tests
