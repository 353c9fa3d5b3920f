// SPDX-License-Identifier: MIT
// Draft trees: every rule x law of siblings x shape, through the session, one round and several:
// the joint law is the target's.
#include <specdec/decode/session.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/draft/tree/profitable_tree.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/tree/coupled_tree_match.hpp>

#include "support/enumeration/enumerating_coin.hpp"
#include "toy_bridges.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace trees_tests {

using step = tree_step<fixed_tree>;

/// check(rule, siblings, ledger) for every rule and law of siblings.
template <class Check>
void for_every_draw(const Check& check) {
    for_rules([&](const char* name, const auto& rule) {
        tree_ledger ledger;
        for (const sibling_draw siblings : sibling_draws) {
            CAPTURE(name, static_cast<int>(siblings));
            check(rule, siblings, ledger);
        }
        ledger.report(name);
    });
}

TEST_CASE("trees of one round have the target's law", "[law]") {
    for_every_draw([](const auto& rule, sibling_draw siblings, tree_ledger& ledger) {
        for_rows(3, every_pair_of_kinds(), [&](row_tree& p, row_tree& q) {
            for (const auto& shape : {tree_of({1, 1, 1}), tree_of({2}), tree_of({3})})
                // Behind a chain's nodes there is nothing to replace: below, of fewer rows.
                if (shape.depth() == 1 || siblings != sibling_draw::without_replacement)
                    check_trees(rule, std::vector<step>{{shape}},
                                {.siblings = siblings, .length = shape.depth() + 1}, p, q, ledger);
        });
        for_rows(3, few_kinds(), [&](row_tree& p, row_tree& q) {
            check_trees(rule, std::vector<step>{{tree_of({2, 2})}},
                        {.siblings = siblings, .length = 3}, p, q, ledger);
        });
        for_rows(2, few_kinds(), [&](row_tree& p, row_tree& q) {
            for (const auto& shape :
                 {tree_of({1, 1, 1}), tree_of({2, 2}), tree_of({2, 1, 1}), tree_of({1, 2, 2})})
                check_trees(rule, std::vector<step>{{shape}}, {.siblings = siblings, .length = 4},
                            p, q, ledger);
        });
    });
}

/// Rounds that are kept, forgotten, used in part, not used, abandoned; what is drafted next depends
/// on what was seen.
std::vector<std::vector<step>> courses() {
    const fixed_tree two = tree_of({2}), fork = tree_of({1, 2}), chain = tree_of({1, 1});
    return {{{two}, {two}, {two}},
            {{fork}, {two, use::commit}},
            {{fork, use::part}, {.shape = two, .by_last_round = true}},
            {{two, use::part}, {chain, use::part}, {.shape = two, .by_last_round = true}},
            {{two, use::nothing}, {.shape = two, .by_last_round = true}},
            {{fork, use::abandon}, {two}, {two}},
            {{fork, use::keep, 2}, {two, use::commit, 1}, {two}}};
}

TEST_CASE("trees of several rounds have the target's law", "[law]") {
    for_every_draw([](const auto& rule, sibling_draw siblings, tree_ledger& ledger) {
        for (const auto& steps : courses()) {
            for_rows(2, few_kinds(), [&](row_tree& p, row_tree& q) {
                check_trees(rule, steps, {.siblings = siblings, .length = 3}, p, q, ledger);
                check_trees<toy_model>(rule, steps, {.siblings = siblings, .length = 3}, p, q,
                                       ledger);
            });
            for_rows(3, {{row_kind::random, row_kind::random}}, [&](row_tree& p, row_tree& q) {
                check_trees(rule, steps, {.siblings = siblings, .length = 2}, p, q, ledger);
            });
        }
    });
}

TEST_CASE("trees under sampling parameters, ends and rooms have the target's law", "[law]") {
    constexpr sampling_parameters warm{.temperature = 0.7F, .top_k = 2},
        cool{.temperature = 1.5F, .top_p = 0.8F}, greedy{.temperature = 0};
    for_every_draw([&](const auto& rule, sibling_draw siblings, tree_ledger& ledger) {
        for_rows(3, few_kinds(), [&](row_tree& p, row_tree& q) {
            const auto check = [&](const tree_case& c) {
                check_trees(rule, std::vector<step>{{tree_of({2, 1})}, {tree_of({2})}}, c, p, q,
                            ledger);
            };
            check({.siblings = siblings, .target = warm, .draft = cool});
            check({.siblings = siblings, .target = cool, .draft = greedy});
            check({.siblings = siblings, .target = greedy, .draft = cool});
            check({.siblings = siblings, .end_ids = {target_id{1}}});
            check({.siblings = siblings, .max_nodes = 3});
        });
    });
}

TEST_CASE("trees that grow by what was drawn have the target's law", "[law]") {
    for_every_draw([](const auto& rule, sibling_draw siblings, tree_ledger& ledger) {
        for_rows(3, few_kinds(), [&](row_tree& p, row_tree& q) {
            const beam_tree beam{.beam = 1, .width = 2, .depth = 2};
            check_trees(rule, std::vector<tree_step<beam_tree>>{{beam}},
                        {.siblings = siblings, .length = 3}, p, q, ledger);
        });
    });
    for_rules([](const char* name, const auto& rule) {
        tree_ledger ledger;
        for_rows(4, few_kinds(), [&](row_tree& p, row_tree& q) {
            const eagle2_tree best{{.beam = 2, .width = 2, .depth = 3}};
            for (const std::size_t nodes : {2U, 3U, 5U})
                check_trees(rule, std::vector<tree_step<eagle2_tree>>{{best}, {best}},
                            {.siblings = sibling_draw::likeliest,
                             .length = 3,
                             .max_nodes = nodes,
                             .max_drafted = 12},
                            p, q, ledger);
        });
        for_rows(4, few_kinds(), [&](row_tree& p, row_tree& q) {
            profitable_tree paying(cost_table{{1, 1.1, 1.2, 1.3, 1.4, 1.5}, 0.1, 0},
                                   {.beam = {.beam = 2, .width = 2, .depth = 3}});
            const std::vector<tree_node> sure(1, {0.9, 0.9, 0.9});
            token_tree<target_id> seen; // what was learnt before is the same on every path
            (void)seen.add(tree_root, target_id{0});
            for (int i = 0; i < 20; ++i)
                paying.learn(&seen, std::vector<std::size_t>{0}, sure);
            check_trees(rule,
                        std::vector<tree_step<profitable_tree>>{{paying}, {paying, use::part}},
                        {.siblings = sibling_draw::likeliest,
                         .length = 3,
                         .max_nodes = 6,
                         .max_drafted = 12},
                        p, q, ledger);
        });
        ledger.report(name);
    });
}

TEST_CASE("a shape that chooses among drawn siblings is refused", "[law]") {
    row_tree p(toy_rows(row_kind::random, 3, 1)), q(toy_rows(row_kind::random, 3, 2));
    tree_ledger ledger;
    const eagle2_tree small{{.beam = 1, .width = 2, .depth = 2}};
    CHECK_THROWS_WITH(
        check_trees(recursive, std::vector<tree_step<eagle2_tree>>{{small}}, {}, p, q, ledger),
        Catch::Contains("likeliest"));
}

/// Trees with TLI, of p of a seed and q of the next one.
void check_tli(const toy_words& two, std::uint64_t seed, std::size_t length,
               const std::vector<std::vector<step>>& rounds) {
    const auto check = [&](const char* name, const auto& rule) {
        tree_ledger ledger;
        for (const sibling_draw siblings : sibling_draws)
            for (const auto& [p_kind, q_kind] : few_kinds()) {
                CAPTURE(name, static_cast<int>(siblings));
                toy_rows_of rows(two, seed, p_kind, q_kind);
                for (const auto& steps : rounds)
                    ledger.check(tree_law(rule, steps, {.siblings = siblings, .length = length},
                                          rows.p, rows.q, ledger, two.tli_trees()),
                                 target_alone(rows.p, length));
            }
        ledger.report(name);
    };
    for_rules(check);
    check("coupled", coupled_tree_match(two.keys));
}

TEST_CASE("trees with tli have the target's law", "[law]") {
    // A draft token twice, tokens of one side only.
    check_tli(permuted_words(), 31, 2,
              {{{tree_of({2, 1})}}, {{tree_of({3})}}, {{tree_of({2})}, {tree_of({2})}}});
}

/// Behind a rejected sibling three shared tokens are left, so that a law which is not renormalised
/// leaves another residual. (Of permuted_words() one is left, whatever the scale.)
TEST_CASE("trees with tli and four shared tokens have the target's law", "[law]") {
    const toy_words two({"a", "b", "c", "ab", "bc"}, {"c", "a", "ba", "b", "a", "ab"});
    REQUIRE(two.map.shared() == 5); // draft tokens, two of them the same
    check_tli(two, 51, 1, {{{tree_of({2})}}, {{tree_of({3})}}});
}

/// Of a target that does not tell what it holds.
template <class Id>
struct untold_tree_model : toy_tree_model<Id> {
    using toy_tree_model<Id>::toy_tree_model;
    void held() const = delete;
};
static_assert(!TellsHeld<untold_tree_model<target_id>, target_id>);

TEST_CASE("a second text of a session of trees has the target's law", "[law]") {
    row_tree p(toy_rows(row_kind::random, 2, 61)), q(toy_rows(row_kind::random, 2, 62));
    for (std::uint64_t seed = 0; seed < 8; ++seed)
        for (const sequence& begin : {sequence{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
            joint_law law, wanted;
            enumerate<interval_coin>([&](interval_coin& coin) {
                auto target = model_of<target_id, untold_tree_model<target_id>>(p);
                auto model = model_of<draft_id, toy_tree_model<draft_id>>(q);
                model_drafter drafter(model);
                session text(identity_trees(2, {}), recursive, {.capacity = 24});
                text.start(std::vector{target_id{0}});
                const philox_coin first(seed);
                for (int i = 0; i < 2; ++i)
                    text.commit(
                        text.round(target, drafter, tree_of({2, 1}), first, 8).tokens.size(),
                        drafter);
                text.start(std::vector{target_id{0}, target_id{begin[0]}, target_id{begin[1]}});
                sequence found = begin;
                const round_result r = text.round(target, drafter, tree_of({2}), coin, 2);
                for (const target_id t : r.tokens)
                    found.push_back(t.value);
                continue_with_target(law, found, coin.probability(), p, 4);
            });
            continue_with_target(wanted, begin, 1, p, 4);
            CAPTURE(seed, begin);
            REQUIRE(total_variation(law, wanted) < exact);
        }
}

struct no_row {};

/// A drafter that has no row behind some tokens: its failure depends on what was drawn.
template <class Model>
struct picky_drafter {
    model_drafter<Model> inner;
    std::size_t fails_at;  ///< tokens of the context and, behind them, of a node's path
    draft_id fails_behind; ///< the last of them; invalid: any
    std::size_t held = 0;  ///< tokens of the context
    draft_id last{};       ///< of these

    [[nodiscard]] std::size_t capacity() const { return inner.capacity(); }
    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        inner.sync(context, unchanged);
        held = context.size();
        last = context.back();
    }
    [[nodiscard]] law_version version() const { return inner.version(); }
    void push(draft_id id) { inner.push(id); }
    logits_row<draft_id> row() {
        check(held, last);
        return inner.row();
    }
    [[nodiscard]] logits_rows<draft_id> grow(std::span<const draft_id> ids,
                                             std::span<const std::size_t> parents)
        requires TreeDrafter<model_drafter<Model>>
    {
        for (std::size_t i = 0; i < ids.size(); ++i)
            check(held + (parents[i] == tree_root ? 1 : 2), ids[i]);
        return inner.grow(ids, parents);
    }
    void keep(std::span<const std::size_t> nodes, std::span<const draft_id> ids)
        requires TreeDrafter<model_drafter<Model>>
    {
        inner.keep(nodes, ids);
    }

    void check(std::size_t tokens, draft_id end) const {
        if (tokens == fails_at && (!fails_behind.valid() || end == fails_behind))
            throw no_row{};
    }
};

/// The law of three tokens where the trees of a failing drafter are ended. Model: toy_tree_model or
/// toy_model, which is fed path by path.
template <template <class> class Model>
void check_ended_trees(const auto& rule, sibling_draw siblings, std::size_t fails_at,
                       draft_id behind, std::uint64_t seed, tree_ledger& ledger) {
    row_tree p(toy_rows(row_kind::random, 2, seed)), q(toy_rows(row_kind::random, 2, seed + 1));
    std::size_t failures = 0, nodes = 0;
    const fixed_tree shape = tree_of({2, 2, 1});
    const joint_law law = on_every_path([&](interval_coin& coin) {
        auto target = model_of<target_id, toy_tree_model<target_id>>(p);
        auto model = model_of<draft_id, Model<draft_id>>(q);
        picky_drafter<Model<draft_id>> drafter{model_drafter(model), fails_at, behind};
        session text(identity_trees(2, {.siblings = siblings}), rule, {.capacity = 24});
        text.start(std::vector{target_id{0}});
        while (text.tokens().size() < 4) {
            (void)text.prepare(target);
            try {
                text.draft(drafter, shape, coin, {4 - text.tokens().size(), 16});
            } catch (const no_row&) {
                REQUIRE(text.end_draft(no_draft::drafter_failed));
                ++failures;
            }
            nodes += text.rows_needed() - 1;
            const round_result r = text.verify(text.score(target), coin);
            text.commit(r.tokens.size(), drafter);
        }
        sequence found = values_of(text.tokens().subspan(1));
        found.resize(3);
        return found;
    });
    CHECK(failures > 0);
    CHECK(nodes > 0);
    ledger.check(law, target_alone(p, 3));
}

TEST_CASE("trees that end where their drafter fails leave the target's law", "[law]") {
    for_every_draw([](const auto& rule, sibling_draw siblings, tree_ledger& ledger) {
        for (const std::size_t fails_at : {1U, 2U})
            for (std::int32_t behind = -1; behind < 2; ++behind) {
                if (fails_at == 1 && behind >= 0)
                    continue;
                CAPTURE(fails_at, behind);
                const draft_id last = behind < 0 ? draft_id{} : draft_id{behind};
                check_ended_trees<toy_tree_model>(rule, siblings, fails_at, last, 91, ledger);
                check_ended_trees<toy_model>(rule, siblings, fails_at, last, 93, ledger);
            }
    });
}

TEST_CASE("laws of siblings say the probabilities that they are drawn with", "[law]") {
    for_every_draw([](const auto& rule, sibling_draw siblings, tree_ledger& ledger) {
        for_rows(3, every_pair_of_kinds(), [&](row_tree& p, row_tree& q) {
            check_trees<toy_tree_model, enumerating_coin>(
                rule, std::vector<step>{{tree_of({2, 1})}}, {.siblings = siblings, .length = 3}, p,
                q, ledger);
        });
    });
}

} // namespace trees_tests
