// SPDX-License-Identifier: MIT
// Token recycling: sessions of several rounds whose drafts are the successors that the target's
// earlier rows named, as chains and as trees, have the target's law under every lossless rule, and
// so have, together, two texts that share what they learn.
#include <specdec/source/recycled_source.hpp>

#include <cstdio>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/tree/profitable_tree.hpp>
#include <specdec/process/processed_rows.hpp>
#include <specdec/source/recycled_tree_source.hpp>

#include "play.hpp"
#include "tree_law.hpp"
#include "two_texts.hpp"

namespace recycled_tests {

using namespace specdec;
using namespace specdec::testing;

/// A table that knows something before the text begins.
successor_table begun(std::size_t vocabulary, std::size_t width) {
    successor_table table(vocabulary, width);
    for (std::size_t t = 0; t < vocabulary; ++t) {
        std::vector<float> row(vocabulary);
        for (std::size_t v = 0; v < vocabulary; ++v)
            row[v] = static_cast<float>((v + 2 * t) % vocabulary);
        table.learn(id_at<target_id>(t), {row});
    }
    return table;
}

/// Sessions whose chains are of a table that begins as this one on every path.
template <class Rule, class Rounds>
auto play_recycled(row_tree& p, const successor_table& first, const Rule& rule,
                   const Rounds& rounds) {
    successor_table table = first;
    const auto models = [&](auto&, const auto& use) {
        auto target = model_of<target_id>(p);
        no_drafter nobody;
        table = first;
        use(target, nobody);
    };
    const auto bridge = [&](std::size_t, const auto& use) { use(recycled_source(table, 2)); };
    return play(made_world{p, models}, bridge, rule, rounds);
}

TEST_CASE("sessions with recycled chains have the target's law", "[law]") {
    std::size_t proposed = 0, accepted = 0;
    const auto saw = [&](const statistics& c) {
        proposed += c.proposed;
        accepted += c.accepted;
    };
    const auto check = [&](const auto& rule) {
        law_ledger ledger;
        std::uint64_t seed = 300;
        for (const scenario& s : every_scenario(target_id{2}))
            for (const row_kind kind : {row_kind::random, row_kind::zeros, row_kind::denormal})
                for (const bool knows : {false, true}) {
                    row_tree p(toy_rows(kind, 3, ++seed));
                    CAPTURE(s.name, static_cast<int>(kind), knows, rule.name);
                    ledger.check(play_recycled(p, knows ? begun(3, 2) : successor_table(3, 2), rule,
                                               watched{s, saw}));
                }
        ledger.print("recycled", rule.name);
    };
    for_lossless_rules(check);
    CHECK(accepted > 100);
    CHECK(proposed > accepted);
}

TEST_CASE("a round that is asked for again for what it gave is the same round", "[law]") {
    const auto check = [](const auto& rule) {
        row_tree p(toy_rows(row_kind::random, 3, 300));
        const auto round = [](auto& text, std::size_t i) {
            const round_result r = text.round(fixed_length{2});
            if (i > 0 || r.tokens[0] == target_id{0})
                text.decoder.commit(r.tokens.size());
        };
        CHECK(play_recycled(p, successor_table(3, 2), rule, rounds_by{scenario{}, round})
                  .deviation() < exact);
    };
    for_lossless_rules(check);
}

TEST_CASE("sessions with recycled trees have the target's law", "[law]") {
    std::size_t accepted = 0;
    const auto check_shape = [&](const char* name, const auto& rule, const auto& shape) {
        using step = tree_step<std::remove_cvref_t<decltype(shape)>>;
        const std::vector<std::vector<step>> courses{
            {{shape}, {shape}},
            {{shape, use::part}, {.shape = shape, .by_last_round = true}},
            {{shape, use::nothing}, {.shape = shape, .by_last_round = true}},
            {{shape, use::abandon}, {shape, use::commit}},
            {{shape, use::keep, 2}, {shape, use::commit, 1}}};
        double worst = 0;
        std::uint64_t seed = 900;
        for (const auto& steps : courses)
            for (const row_kind kind : {row_kind::random, row_kind::zeros}) {
                row_tree p(toy_rows(kind, 3, ++seed));
                const joint_law law = on_every_path([&](interval_coin& coin) {
                    auto target = model_of<target_id, toy_tree_model<target_id>>(p);
                    no_drafter nobody;
                    successor_table table = begun(3, 3);
                    session session(recycled_tree_source(
                                        table, {.max_nodes = 5, .max_depth = 3, .max_drafted = 9}),
                                    rule, session_settings{.capacity = 24});
                    session.start(std::vector{target_id{0}});
                    const sequence text = run_trees(session, target, nobody, coin, steps, 2);
                    accepted += session.counts().accepted;
                    return text;
                });
                CAPTURE(name, static_cast<int>(kind));
                const double tv = total_variation(law, target_alone(p, 2));
                worst = tv > worst ? tv : worst;
                REQUIRE(tv < exact);
            }
        std::printf("%-28s worst total variation %.1e\n", name, worst);
    };
    const fixed_tree two = fixed_tree::of_widths(std::vector<std::size_t>{2, 1});
    const eagle2_tree best{{.beam = 2, .width = 2, .depth = 3}};
    const profitable_tree paying(cost_table{{1, 1.02, 1.04, 1.06, 1.08, 1.1}, 0, 0},
                                 {.beam = {.beam = 2, .width = 2, .depth = 3}});
    check_shape("recycled, recursive", recursive, two);
    check_shape("recycled, traversal", traversal, two);
    check_shape("recycled, exact", tree_exact_match{}, two);
    check_shape("recycled, chosen, recursive", recursive, best);
    check_shape("recycled, chosen, traversal", traversal, best);
    check_shape("recycled, paying, traversal", traversal, paying);
    CHECK(accepted > 100);
}

struct failed {};

/// Throws where the law behind so many tokens is asked for, the first time.
struct fails_once {
    std::size_t behind;
    bool* failed_once;
    void operator()(std::span<const target_id> tokens, std::span<float>) const {
        if (tokens.size() == behind && !std::exchange(*failed_once, true))
            throw failed{};
    }
};

TEST_CASE("a decision about recycled drafts that throws is drafted again, and the law stays",
          "[law]") {
    std::size_t threw = 0, accepted = 0;
    // Whether the second place is asked for depends on what the first one drew.
    const auto check = [&](const char* name, auto made, auto make_target) {
        for (std::size_t behind = 1; behind <= 3; ++behind)
            for (const row_kind kind : {row_kind::random, row_kind::zeros}) {
                row_tree p(toy_rows(kind, 3, 71 + behind));
                const joint_law law = on_every_path([&](interval_coin& coin) {
                    auto target = make_target(p);
                    no_drafter nobody;
                    successor_table table = begun(3, 3);
                    bool failed_once = false;
                    auto decoder = made(table, processed_rows(3, fails_once{behind, &failed_once}));
                    decoder.text.start(std::vector{target_id{0}});
                    sequence text;
                    while (text.size() < 3)
                        try {
                            const auto r =
                                decoder.text.round(target, nobody, decoder.drafts, coin, 3);
                            for (const target_id t : r.tokens)
                                text.push_back(t.value);
                            decoder.text.commit(r.tokens.size());
                        } catch (const failed&) {
                            ++threw;
                        }
                    text.resize(3);
                    accepted += decoder.text.counts().accepted;
                    return text;
                });
                CAPTURE(name, behind, static_cast<int>(kind));
                REQUIRE(total_variation(law, target_alone(p, 3)) < exact);
            }
    };
    const auto chains = [&](const char* name, const auto& rule) {
        check(
            name,
            [&](successor_table& table, auto laws) {
                struct {
                    session<recycled_source, std::remove_cvref_t<decltype(rule)>, decltype(laws)>
                        text;
                    fixed_length drafts;
                } made{{recycled_source(table, 2), rule, session_settings{.capacity = 16}, laws},
                       {2}};
                return made;
            },
            [](row_tree& p) { return model_of<target_id>(p); });
    };
    const auto trees = [&](const char* name, const auto& rule) {
        check(
            name,
            [&](successor_table& table, auto laws) {
                struct {
                    session<recycled_tree_source, std::remove_cvref_t<decltype(rule)>,
                            decltype(laws)>
                        text;
                    fixed_tree drafts;
                } made{{recycled_tree_source(table,
                                             {.max_nodes = 5, .max_depth = 3, .max_drafted = 9}),
                        rule, session_settings{.capacity = 16}, laws},
                       fixed_tree::of_widths(std::vector<std::size_t>{2, 1})};
                return made;
            },
            [](row_tree& p) { return model_of<target_id, toy_tree_model<target_id>>(p); });
    };
    chains("rejection", by_rejection);
    chains("block", by_block);
    trees("recursive", recursive);
    trees("traversal", traversal);
    CHECK(threw > 100);
    CHECK(accepted > 100);
}

TEST_CASE("two texts that share a table of successors have together the target's law", "[law]") {
    std::size_t changed = 0, accepted = 0;
    for (const course& c : courses_of_two(2))
        for (const std::int32_t others : {0, 1}) { // first token
            row_tree p(toy_rows(row_kind::random, 3, 77));
            const auto rows = [](const auto& decoder) { return decoder.rows_needed(); };
            check_two_texts(p, c, [&](interval_coin& coin, const auto& use) {
                auto one = model_of<target_id>(p), other = model_of<target_id>(p);
                no_drafter nobody;
                successor_table table(3, 2);
                two_texts world(rows, changed);
                for (auto* target : {&one, &other}) {
                    session decoder(recycled_source(table, 2), by_rejection,
                                    session_settings{.capacity = 16});
                    decoder.start(std::vector{target_id{target == &one ? 0 : others}});
                    world.add(std::move(decoder), *target, nobody, coin);
                }
                use(world);
                accepted += world.accepted();
            });
        }
    CHECK(changed > 0);
    CHECK(accepted > 100);
}

} // namespace recycled_tests
