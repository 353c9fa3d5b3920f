// SPDX-License-Identifier: MIT
// The law of tokens that a tree session commits, enumerated through the production code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/tree/tree_session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/verify/tree/recursive_rejection.hpp>
#include <specdec/verify/tree/traversal_verification.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>

#include "rule_law.hpp"
#include "support/toy_tree_model.hpp"

namespace specdec::testing {

inline constexpr sibling_draw sibling_draws[] = {
    sibling_draw::independent, sibling_draw::without_replacement, sibling_draw::likeliest};

inline constexpr recursive_rejection recursive{.thinning = {1, 1}};
inline constexpr traversal_verification traversal{.thinning = {1, 1}};

/// Toy models over row trees; the first token of every context is a prompt token that rows ignore.
template <class Model, class Id>
Model tree_model_of(row_tree& rows, std::size_t vocabulary) {
    return Model(vocabulary, [&rows](const std::vector<Id>& context) {
        sequence prefix;
        for (std::size_t i = 1; i < context.size(); ++i)
            prefix.push_back(context[i].value);
        return rows(prefix);
    });
}

/// What is done with a round's result.
enum class use : std::uint8_t {
    keep,    ///< commit all; the models keep the path
    commit,  ///< commit all; the models forget the tree
    part,    ///< commit the first token, the models keep it
    nothing, ///< commit(0)
    abandon, ///< no commit
};

template <class Shape>
struct tree_step {
    Shape shape;
    use what = use::keep;
    std::size_t room = 8;
    bool by_last_round = false; ///< drafts only if the last round kept something
};

struct tree_case {
    std::size_t vocabulary = 3;
    sibling_draw siblings = sibling_draw::without_replacement;
    std::size_t length = 2;
    sampling_parameters target{};
    sampling_parameters draft{};
    std::size_t max_nodes = 16;
    std::vector<target_id> end_ids{};
    std::size_t max_drafted = 0;
};

struct tree_ledger {
    std::uint64_t laws = 0, paths = 0;
    double worst = 0;
};

inline const fixed_tree& no_tree() {
    static const fixed_tree none = fixed_tree::chain(0);
    return none;
}

/// Runs one path: the steps, then rounds without drafts. Returns the first `length` tokens.
template <class Session, class Target, class D, class Shape, class C>
sequence run_trees(Session& text, Target& target, D& drafter, C& coin,
                   const std::vector<tree_step<Shape>>& steps, std::size_t length) {
    sequence found;
    bool kept_some = true;
    for (std::size_t i = 0; found.size() < length; ++i) {
        const bool drafts = i < steps.size() && (kept_some || !steps[i].by_last_round);
        const std::size_t room = i < steps.size() ? steps[i].room : 8;
        const tree_round_result r = drafts ? text.round(target, drafter, steps[i].shape, coin, room)
                                           : text.round(target, drafter, no_tree(), coin, room);
        kept_some = r.accepted > 0;
        const use what = i < steps.size() ? steps[i].what : use::keep;
        if (what == use::abandon)
            continue;
        const std::size_t n = what == use::nothing ? 0 : what == use::part ? 1 : r.tokens.size();
        for (std::size_t k = 0; k < n; ++k)
            found.push_back(r.tokens[k].value);
        if (what == use::commit)
            text.commit(n);
        else
            text.commit(n, target, drafter);
    }
    found.resize(length);
    return found;
}

/// The joint law of a session's first tokens. DraftModel: toy_tree_model or toy_model (which is fed
/// path by path).
template <template <class> class DraftModel = toy_tree_model, class Coin = interval_coin,
          class Rule, class Shape, class MakeBridge>
joint_law tree_law(const Rule& rule, const std::vector<tree_step<Shape>>& steps, const tree_case& c,
                   row_tree& p, row_tree& q, tree_ledger& ledger, std::size_t draft_size,
                   const MakeBridge& make_bridge) {
    joint_law law;
    enumerate<Coin>([&](Coin& coin) {
        auto target = tree_model_of<toy_tree_model<target_id>, target_id>(p, c.vocabulary);
        auto model = tree_model_of<DraftModel<draft_id>, draft_id>(q, draft_size);
        model_drafter drafter(model);
        tree_session text(
            make_bridge(tree_settings{.max_nodes = c.max_nodes,
                                      .max_depth = 8,
                                      .siblings = c.siblings,
                                      .max_drafted = c.max_drafted}),
            rule,
            session_settings{
                .target = c.target, .draft = c.draft, .capacity = 24, .end_ids = c.end_ids});
        text.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
        const sequence found = run_trees(text, target, drafter, coin, steps, c.length);
        law[found] += coin.probability();
        if (++ledger.paths > 20'000'000)
            throw "too many paths";
    });
    ++ledger.laws;
    return law;
}

/// Checks that law against the target's alone.
template <template <class> class DraftModel = toy_tree_model, class Coin = interval_coin,
          class Rule, class Shape>
void check_trees(const Rule& rule, const std::vector<tree_step<Shape>>& steps, const tree_case& c,
                 row_tree& p, row_tree& q, tree_ledger& ledger) {
    const joint_law law = tree_law<DraftModel, Coin>(
        rule, steps, c, p, q, ledger, c.vocabulary, [&](const tree_settings& settings) {
            return identity_tree_bridge(identity_map(c.vocabulary, c.vocabulary),
                                        shared_context(c.vocabulary, 24), settings);
        });
    const double tv = total_variation(law, target_alone(p, c.length, c.target));
    ledger.worst = tv > ledger.worst ? tv : ledger.worst;
    REQUIRE(tv < exact);
}

template <class Check>
void for_rows(std::size_t vocabulary, const std::vector<std::pair<row_kind, row_kind>>& kinds,
              const Check& check) {
    std::uint64_t seed = 900;
    for (const auto& [p_kind, q_kind] : kinds) {
        row_tree p(toy_rows(p_kind, vocabulary, ++seed));
        row_tree q(toy_rows(q_kind, vocabulary, ++seed));
        CAPTURE(static_cast<int>(p_kind), static_cast<int>(q_kind));
        check(p, q);
    }
}

inline std::vector<std::pair<row_kind, row_kind>> every_pair_of_kinds() {
    std::vector<std::pair<row_kind, row_kind>> all;
    for (const row_kind p : row_kinds)
        for (const row_kind q : row_kinds)
            all.emplace_back(p, q);
    return all;
}
inline std::vector<std::pair<row_kind, row_kind>> few_kinds() {
    return {{row_kind::random, row_kind::random},
            {row_kind::zeros, row_kind::ties},
            {row_kind::random, row_kind::peaked},
            {row_kind::denormal, row_kind::random}};
}

} // namespace specdec::testing
