// SPDX-License-Identifier: MIT
// Drafters that give several places in one pass (block_model): the law of whole sessions,
// enumerated, is the target's, with every bridge and rule, in chains and trees, for drafts within a
// block and longer ones.
#include <specdec/draft/block_model.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_block_model.hpp"
#include "toy_bridges.hpp"
#include "tree_law.hpp"
#include "two_texts.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace block_drafters_tests {

/// Rows of q after the first token; the masks of a block count as tokens.
toy_block_model blocks_of(row_tree& q, std::size_t places) {
    return {
        q({}).size(),
        [&q](std::span<const draft_id> context) -> const auto& { return q(context.subspan(1)); },
        places};
}

/// One round and two, some of them drafted longer than a block of two places.
std::vector<scenario> block_scenarios(target_id end) {
    std::vector<scenario> all = short_scenarios(end);
    const session_start longer{.max_draft = 3};
    all.push_back({"longer than a block", {{.gamma = 3}, {.gamma = 1}}, 2, {}, {}, 16, {}, longer});
    all.push_back({"two rounds", {{.gamma = 2}, {.gamma = 2}}, 3});
    all.push_back({"part of a longer one, then by what was seen",
                   {{.gamma = 3, .what = then::part}, {.gamma = 1, .by_last_round = true}},
                   2,
                   {},
                   {.top_k = 2},
                   16,
                   {},
                   longer});
    return all;
}

template <bool brief = false, class WithBridge, class... Rules>
void check_blocks(const char* name, const toy_words& two, const WithBridge& with_bridge,
                  const Rules&... rules) {
    law_ledger ledger;
    std::uint64_t seed = 700;
    std::size_t accepted = 0, drafted = 0, passes = 0;
    const auto check = [&](const auto& rule, const scenario& s, std::size_t places) {
        toy_rows_of rows(two, seed += 2);
        CAPTURE(name, s.name, rule.name, places);
        const auto make = [&](auto&, const auto& use) {
            auto target = model_of<target_id>(rows.p);
            toy_block_model engine = blocks_of(rows.q, places);
            block_model draft(engine);
            model_drafter drafter(draft);
            use(target, drafter);
            passes += engine.passes;
        };
        const auto count = [&](const statistics& counts) {
            accepted += counts.accepted;
            drafted += counts.draft_tokens;
        };
        ledger.check(play(made_world{rows.p, make}, with_bridge, rule, watched{s, count}));
    };
    const target_id end = id_at<target_id>(two.target_size() - 1);
    std::size_t places = 2;
    for (const scenario& s : brief ? short_scenarios(end) : block_scenarios(end)) {
        places = s.start.max_draft > 2 ? 2 : 5 - places; // 2 and 3 in turns
        (check(rules, s, places), ...);
    }
    CHECK(accepted > 0);
    CHECK(passes < drafted);
    ledger.print(name, "blocks");
}

TEST_CASE("block drafters through token bridges have the target's law", "[law]") {
    const toy_words& two = permuted_words();
    const lossless_rule coupled = by_coupling(two.keys);
    check_blocks("identity", two, two.identity(), by_rejection, by_block, by_match, coupled);
    check_blocks("tli", two, two.tli(), by_rejection, by_block, by_match, coupled);
    check_blocks("union", two, two.union_of(), by_rejection);
    static const toy_words pieces({"b", "a"}, {"b", "a", "bb"});
    check_blocks<true>("nested", pieces, pieces.nested(), by_rejection, by_block);
}

TEST_CASE("block drafters through strings have the target's law", "[law]") {
    const toy_words& two = permuted_words();
    const lossless_rule coupled = by_coupling(two.keys);
    check_blocks("slem", two, two.slem(), by_match, coupled, by_rejection);
    check_blocks<true>("spelling", two, two.spelling(), by_match, coupled, by_rejection);
}

TEST_CASE("block drafters that are asked again at the decision have the target's law", "[law]") {
    const toy_words& two = twofold_words();
    check_blocks("slrs", two, two.slrs(0), by_rejection, by_block, by_match);
    check_blocks<true>("slrs, light drafts end", two, two.slrs(0.3), by_rejection, by_block);
    static const toy_words learning({"a", "b", "ba", "ab"}, {"b", "a"});
    check_blocks<true>("merge", learning, learning.merge(0, {{{1, 0}, 3}}), by_rejection, by_block);
}

TEST_CASE("trees of block drafters have the target's law", "[law]") {
    using step = tree_step<fixed_tree>;
    const std::vector<std::vector<step>> courses = {
        {{tree_of({2, 2})}, {tree_of({2})}},
        {{tree_of({1, 2, 1})}},
        {{tree_of({2, 1}), use::part}, {.shape = tree_of({2}), .by_last_round = true}},
        {{tree_of({2}), use::abandon}, {tree_of({2}), use::commit}, {tree_of({1, 1})}}};
    for_rules([&](const char* name, const auto& rule) {
        tree_ledger ledger;
        std::size_t accepted = 0;
        for (const sibling_draw siblings : sibling_draws)
            for (const auto& steps : courses)
                for (const std::size_t places : {1U, 2U, 4U})
                    for_rows(
                        2, {{row_kind::random, row_kind::random}}, [&](row_tree& p, row_tree& q) {
                            CAPTURE(name, static_cast<int>(siblings), places);
                            const joint_law law = on_every_path(
                                [&](interval_coin& coin) {
                                    auto target = model_of<target_id, toy_tree_model<target_id>>(p);
                                    toy_block_model engine = blocks_of(q, places);
                                    block_model model(engine);
                                    model_drafter drafter(model);
                                    session text(identity_trees(2, {.max_nodes = 16,
                                                                    .max_depth = 8,
                                                                    .siblings = siblings}),
                                                 rule, session_settings{.capacity = 24});
                                    text.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
                                    const sequence found =
                                        run_trees(text, target, drafter, coin, steps, 3);
                                    accepted += text.counts().accepted;
                                    return found;
                                },
                                ledger.paths);
                            ledger.check(law, target_alone(p, 3));
                            ++ledger.laws;
                        });
        CHECK(accepted > 0);
        ledger.report(name);
    });
}

const toy_words& letters() {
    static const toy_words two({"a", "b"}, {"b", "a"});
    return two;
}

/// Two texts that take turns with one block drafter: while one is between its draft and its
/// decision, the other drafts, in a round that begins elsewhere.
template <class WithBridge, class Rule, class Check>
void for_turns(const WithBridge& with_bridge, const Rule& rule, const Check& check) {
    std::uint64_t seed = 800;
    const std::vector<course> courses = courses_of_two(2);
    for (const course& c : {courses.front(), courses.back()}) { // others have too many paths
        toy_rows_of rows(letters(), seed += 2);
        check(rows.p, c, [&](interval_coin& coin, const auto& use) {
            with_bridge(std::size_t{2}, [&](auto bridge) {
                auto one = model_of<target_id>(rows.p), other = model_behind<target_id>(rows.p, 2);
                toy_block_model engine = blocks_of(rows.q, 2);
                block_model blocks(engine);
                model_drafter first(blocks, left_context::reused),
                    second(blocks, left_context::reused);
                std::size_t turned = 0;
                const auto see = [](const auto& text) { return text.counts().rounds; };
                two_texts<decltype(see)> world(see, turned);
                const auto add = [&](auto& target, auto& drafter, std::size_t prompt) {
                    session text(bridge, rule, {.capacity = 16});
                    text.start(std::vector<target_id>(prompt, target_id{0}),
                               std::vector{draft_id{1}});
                    world.add(std::move(text), target, drafter, coin);
                };
                add(one, first, 1);
                add(other, second, 2);
                use(world);
            });
        });
    }
}

TEST_CASE("texts that take turns with one block drafter have together the target's law", "[law]") {
    const toy_words& two = letters();
    const auto right = [](row_tree& p, const course& c, const auto& make) {
        check_two_texts(p, c, make);
    };
    for_turns(two.identity(), by_rejection, right);
    for_turns(two.tli(), by_block, right);
    for_turns(two.slem(), by_match, right);
    std::size_t refused = 0;
    for_turns(two.slrs(0), by_rejection, [&](row_tree& p, const course& c, const auto& make) {
        const course_law found = law_of(c, make);
        if (found.refused.empty())
            return check_two_texts(p, c, make);
        ++refused;
        CAPTURE(c.text());
        CHECK_THAT(found.refused, Catch::Contains("drafter"));
    });
    CHECK(refused > 0);
}

} // namespace block_drafters_tests
