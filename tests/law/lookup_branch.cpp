// SPDX-License-Identifier: MIT
// What a lookup found as a branch of a drafter's tree: sessions of several rounds have the target's
// law under every rule of trees and every law of siblings.
#include <specdec/source/lookup_branch.hpp>

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/tree/profitable_tree.hpp>
#include <specdec/sampling/coin/text_keys.hpp>
#include <specdec/verify/tree/coupled_tree_match.hpp>

#include "support/course/course_text.hpp"
#include "toy_bridges.hpp"
#include "tree_law.hpp"

namespace lookup_branch_tests {

using namespace specdec;
using namespace specdec::testing;
using words_type = toy_words::target_words;
using step = tree_step<fixed_tree>;

struct drafts {
    std::size_t found = 0, drafted = 0, both = 0;
};

template <class Rule, class Shape, class MakeBridge>
joint_law branch_law(const toy_words& two, const std::string& text, const Rule& rule,
                     const std::vector<tree_step<Shape>>& steps, const tree_case& c, row_tree& p,
                     row_tree& q, const MakeBridge& make_bridge, drafts& seen) {
    const std::vector<target_id> prompt = encoded(two.target, text);
    const cost_table costs{{1, 1.05, 1.1, 1.15, 1.2}, 0.1, 0};
    joint_law law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        auto target = model_behind<target_id, toy_tree_model<target_id>>(p, prompt.size());
        auto model = model_behind<draft_id, toy_tree_model<draft_id>>(q, prompt.size());
        model_drafter drafter(model);
        acceptance_table table;
        auto bridge = make_bridge(
            tree_settings{.max_nodes = c.max_nodes, .max_depth = 8, .siblings = c.siblings});
        using lookup_type = lookup_with<prompt_lookup, words_type, lookup_length>;
        session session(
            lookup_branch<decltype(bridge), prompt_lookup, words_type, interval_number>(
                std::move(bridge),
                lookup_type{{prompt_lookup(1024), two.target, 2}, lookup_length(table, costs)}),
            rule,
            session_settings{
                .target = c.target, .draft = c.draft, .capacity = 24, .end_ids = c.end_ids});
        session.start(prompt);
        const sequence found = run_trees(session, target, drafter, coin, steps, c.length);
        law[found] += coin.probability();
        const statistics& counts = session.counts();
        seen.found += counts.looked_up;
        seen.drafted += counts.draft_tokens;
        seen.both += counts.looked_up_accepted > 0 && counts.accepted > counts.looked_up_accepted;
    });
    return law;
}

TEST_CASE("a looked-up branch of a tree keeps the target's law", "[law]") {
    static const toy_words equal({"a", "b", "ab"}, {"a", "b", "ab"});
    const toy_words& two = permuted_words();
    const std::vector<std::vector<step>> courses{
        {{tree_of({2})}, {tree_of({2})}},
        {{tree_of({2, 1})}, {tree_of({1})}},
        {{tree_of({1}), use::part}, {.shape = tree_of({2}), .by_last_round = true}},
        {{tree_of({2}), use::nothing}, {.shape = tree_of({1}), .by_last_round = true}},
        {{tree_of({2}), use::abandon}, {tree_of({2}), use::commit}},
        {{tree_of({2}), use::keep, 2}, {tree_of({2}), use::commit, 1}}};
    constexpr sampling_parameters greedy{.temperature = 0};
    drafts seen;
    const auto check = [&](const char* name, const auto& rule) {
        tree_ledger ledger;
        std::uint64_t seed = 800;
        for (const sibling_draw siblings : sibling_draws)
            for (const auto& steps : courses)
                for (const auto& [p_kind, q_kind] : {std::pair{row_kind::random, row_kind::random},
                                                     {row_kind::zeros, row_kind::ties}}) {
                    CAPTURE(name, static_cast<int>(siblings));
                    row_tree p(toy_rows(p_kind, 3, ++seed)), q(toy_rows(q_kind, 3, ++seed)),
                        r(toy_rows(q_kind, 4, ++seed));
                    const auto same = [&](const toy_words& words, const tree_case& c, row_tree& own,
                                          const auto& make) {
                        const joint_law law =
                            branch_law(words, "bbabbabb", rule, steps, c, p, own, make, seen);
                        const double tv = total_variation(law, target_alone(p, 2, c.target));
                        ledger.worst = tv > ledger.worst ? tv : ledger.worst;
                        ++ledger.laws;
                        REQUIRE(tv < exact);
                    };
                    const auto identity = [&](const tree_settings& settings) {
                        return identity_tree_bridge(identity_map(3, 3), shared_context(3, 24),
                                                    settings);
                    };
                    same(equal, {.siblings = siblings}, q, identity);
                    same(equal, {.siblings = siblings, .draft = greedy}, q, identity);
                    same(equal, {.siblings = siblings, .end_ids = {target_id{1}}}, q, identity);
                    same(two, {.siblings = siblings, .max_nodes = 3}, r, two.tli_trees());
                }
        std::printf("%-28s %4llu laws, worst total variation %.1e\n", name,
                    static_cast<unsigned long long>(ledger.laws), ledger.worst);
    };
    for_rules(check);
    CHECK(seen.found > 1000);
    CHECK(seen.drafted > 1000);
    CHECK(seen.both > 100); // a branch behind nodes of the drafter
    const drafts before = seen;
    check("coupled", coupled_tree_match(two.keys));
    CHECK(seen.found > before.found);
}

TEST_CASE("a paying tree that knows of the branch beside it keeps the target's law", "[law]") {
    static const toy_words equal({"a", "b", "ab"}, {"a", "b", "ab"});
    const profitable_tree paying(cost_table{{1, 1.1, 1.2, 1.3, 1.4, 1.5}, 0.1, 0},
                                 {.beam = {.beam = 2, .width = 2, .depth = 2}});
    const std::vector<std::vector<tree_step<profitable_tree>>> courses{
        {{paying}, {paying}}, {{paying, use::part}, {paying}}, {{paying, use::abandon}, {paying}}};
    const auto bridge = [](const tree_settings& settings) {
        return identity_tree_bridge(identity_map(3, 3), shared_context(3, 24), settings);
    };
    drafts seen;
    std::uint64_t seed = 900;
    for_rules([&](const char* name, const auto& rule) {
        for (const auto& steps : courses)
            for (int rows = 0; rows < 4; ++rows) {
                CAPTURE(name, rows);
                row_tree p(toy_rows(row_kind::random, 3, ++seed)),
                    q(toy_rows(row_kind::random, 3, ++seed));
                const joint_law law =
                    branch_law(equal, "bbabbabb", rule, steps,
                               {.siblings = sibling_draw::likeliest}, p, q, bridge, seen);
                REQUIRE(total_variation(law, target_alone(p, 2, {})) < exact);
            }
    });
    CHECK(seen.found > 100);
    CHECK(seen.drafted > 100);
}

TEST_CASE("two texts whose trees have looked-up branches have together the target's law", "[law]") {
    static const toy_words equal({"a", "b", "ab"}, {"a", "b", "ab"});
    const cost_table costs{{1, 1.05, 1.1, 1.15, 1.2}, 0.1, 0};
    const fixed_tree shape = tree_of({2});
    row_tree p(toy_rows(row_kind::random, 3, 991)), q(toy_rows(row_kind::random, 3, 992));
    std::size_t found = 0;
    const pair_law law = on_every_path([&](interval_coin& coin) {
        acceptance_table tables[2];
        const auto text_of = [&](std::size_t i) {
            const char* const prompts[] = {"bbabbabb", "aabaab"};
            const std::vector<target_id> prompt = encoded(equal.target, prompts[i]);
            auto bridge = identity_tree_bridge(identity_map(3, 3), shared_context(3, 24),
                                               {.max_nodes = 4, .max_depth = 8});
            using lookup_type = lookup_with<prompt_lookup, words_type, lookup_length>;
            session text(
                lookup_branch<decltype(bridge), prompt_lookup, words_type, interval_number>(
                    std::move(bridge), lookup_type{{prompt_lookup(1024), equal.target, 2},
                                                   lookup_length(tables[i], costs)}),
                recursive, session_settings{.capacity = 24});
            text.start(prompt);
            return text;
        };
        auto one = text_of(0), other = text_of(1);
        coin_of_text<interval_coin> coins[] = {{&coin, 0}, {&coin, 1}};
        const auto target_of = [&](const auto& text) {
            return model_behind<target_id, toy_tree_model<target_id>>(p, text.tokens().size());
        };
        auto target = target_of(one), others = target_of(other);
        auto model = model_behind<draft_id, toy_tree_model<draft_id>>(q, one.tokens().size()),
             second = model_behind<draft_id, toy_tree_model<draft_id>>(q, other.tokens().size());
        model_drafter drafter(model), other_drafter(second);
        const std::size_t begin = one.tokens().size(), other_begin = other.tokens().size();
        // The other's whole round between draft and decision.
        one.draft(drafter, shape, coins[0], {8, 8});
        other.commit(other.round(others, other_drafter, shape, coins[1], 8).tokens.size());
        one.commit(one.verify(one.score(target), coins[0]).tokens.size());
        found += one.counts().looked_up + other.counts().looked_up;
        const auto tokens_of = [&](auto& text, auto& own, auto& by, auto& c, std::size_t from) {
            while (text.tokens().size() < from + 2)
                text.commit(text.round(own, by, no_tree(), c, 8).tokens.size());
            return values_of(text.tokens().subspan(from, 2));
        };
        return std::pair{tokens_of(one, target, drafter, coins[0], begin),
                         tokens_of(other, others, other_drafter, coins[1], other_begin)};
    });
    CHECK(total_variation(law, both_alone(p, 2)) < exact);
    CHECK(found > 100);
}

} // namespace lookup_branch_tests
