// SPDX-License-Identifier: MIT
// Trees of text (SLEM): through the session, one round and several, the joint law is the target's.
#include <specdec/bridge/tree/slem_tree_bridge.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/verify/tree/coupled_tree_match.hpp>

#include "toy_bridges.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace slem_trees_tests {

using step = tree_step<fixed_tree>;

/// Trees of text of a pair, under every rule of trees.
struct text_trees {
    const toy_words& two;
    tree_ledger ledger{};

    template <class Rule, class Shape>
    void check(const Rule& rule, const std::vector<tree_step<Shape>>& steps, const tree_case& c,
               toy_rows_of& rows) {
        const auto make = [&](const tree_settings& settings) {
            return slem_tree_bridge(two.target, two.draft, two.map, 16, settings);
        };
        ledger.check(tree_law(rule, steps, c, rows.p, rows.q, ledger, make),
                     target_alone(rows.p, c.length, c.target));
    }
    template <class Shape>
    void check(const std::vector<tree_step<Shape>>& steps, const tree_case& c, toy_rows_of& rows) {
        check(tree_exact_match{}, steps, c, rows);
        check(coupled_tree_match(two.keys), steps, c, rows);
        check(recursive, steps, c, rows);
        check(traversal, steps, c, rows);
    }
};

/// Target tokens that several draft tokens make, draft tokens that are several of the target or end
/// inside one, and one that there is twice.
const toy_words& merging_words() {
    static const toy_words two({"a", "b", "aab", "ba"}, {"b", "a", "ab", "a"});
    return two;
}

template <class Check>
void for_pairs(const char* what, const Check& check) {
    for (const toy_words* const two : {&permuted_words(), &twofold_words(), &merging_words()}) {
        text_trees trees{*two};
        std::uint64_t seed = 70;
        for (const auto& [p_kind, q_kind] : few_kinds()) {
            CAPTURE(static_cast<int>(p_kind), static_cast<int>(q_kind));
            toy_rows_of rows(*two, seed += 2, p_kind, q_kind);
            check(trees, rows);
        }
        trees.ledger.report(what);
    }
}

TEST_CASE("trees of text of one round have the target's law", "[law]") {
    for_pairs("text, one round", [](text_trees& trees, toy_rows_of& rows) {
        for (const sibling_draw siblings : sibling_draws)
            for (const auto& shape : {tree_of({2}), tree_of({1, 2}), tree_of({2, 1})})
                trees.check(std::vector<step>{{shape}}, {.siblings = siblings, .length = 2}, rows);
        trees.check(std::vector<step>{{tree_of({3, 2})}}, {.siblings = sibling_draw::likeliest},
                    rows);
    });
}

/// Rounds that are kept, forgotten, used in part, not used, abandoned; what is drafted next depends
/// on what was seen.
TEST_CASE("trees of text of several rounds have the target's law", "[law]") {
    const fixed_tree two = tree_of({2}), fork = tree_of({1, 2}), wide = tree_of({2, 2});
    const std::vector<std::vector<step>> drawn{
        {{two}, {two}},
        {{two, use::part}, {.shape = two, .by_last_round = true}},
        {{two, use::nothing}, {.shape = two, .by_last_round = true}},
        {{two, use::abandon}, {two}}};
    const std::vector<std::vector<step>> likeliest{
        {{wide}, {fork}, {two}},
        {{wide, use::commit}, {wide}},
        {{wide, use::part}, {.shape = two, .by_last_round = true}, {fork, use::part}},
        {{fork, use::nothing}, {.shape = wide, .by_last_round = true}},
        {{fork, use::abandon}, {wide}},
        {{wide, use::keep, 2}, {fork, use::commit, 1}, {wide}}};
    for_pairs("text, several rounds", [&](text_trees& trees, toy_rows_of& rows) {
        for (const auto& steps : drawn)
            trees.check(tree_exact_match{}, steps,
                        {.siblings = sibling_draw::without_replacement, .length = 2}, rows);
        for (const auto& steps : likeliest)
            trees.check(steps, {.siblings = sibling_draw::likeliest, .length = 3}, rows);
    });
}

TEST_CASE("trees of text under sampling parameters, ends and rooms have the target's law",
          "[law]") {
    constexpr sampling_parameters warm{.temperature = 0.7F, .top_k = 2},
        cool{.temperature = 1.5F, .top_p = 0.8F}, greedy{.temperature = 0};
    for_pairs("text, parameters", [&](text_trees& trees, toy_rows_of& rows) {
        const auto check = [&](const tree_case& c) {
            trees.check(std::vector<step>{{tree_of({2, 1})}, {tree_of({2})}}, c, rows);
        };
        check({.siblings = sibling_draw::likeliest, .target = warm, .draft = cool});
        check({.target = cool, .draft = greedy});
        check({.siblings = sibling_draw::likeliest, .end_ids = {target_id{1}}});
        check({.siblings = sibling_draw::likeliest, .max_nodes = 3});
    });
}

TEST_CASE("trees of text that grow and choose by sureness have the target's law", "[law]") {
    for_pairs("text, surest", [](text_trees& trees, toy_rows_of& rows) {
        const eagle2_tree best{{.beam = 2, .width = 2, .depth = 3}};
        for (const std::size_t nodes : {2U, 4U})
            trees.check(std::vector<tree_step<eagle2_tree>>{{best}, {best, use::part}},
                        {.siblings = sibling_draw::likeliest,
                         .length = 3,
                         .max_nodes = nodes,
                         .max_drafted = 12},
                        rows);
    });
}

} // namespace slem_trees_tests
