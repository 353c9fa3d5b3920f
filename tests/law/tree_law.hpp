// SPDX-License-Identifier: MIT
// The law of tokens that a tree session commits, enumerated through the production code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/verify/tree/recursive_rejection.hpp>
#include <specdec/verify/tree/traversal_verification.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>

#include "session_law.hpp"
#include "support/toy_tree_model.hpp"

namespace specdec::testing {

inline constexpr sibling_draw sibling_draws[] = {
    sibling_draw::independent, sibling_draw::without_replacement, sibling_draw::likeliest};

inline constexpr recursive_rejection recursive{.thinning = {1, 1}};
inline constexpr traversal_verification traversal{.thinning = {1, 1}};

template <class Check>
void for_rules(const Check& check) {
    check("recursive", recursive);
    check("traversal", traversal);
    check("exact", tree_exact_match{});
}

/// What is done with a round's result.
enum class use : std::uint8_t {
    keep,    ///< commit all; the models keep the path
    commit,  ///< commit all; the models forget the tree
    part,    ///< commit the first token, the models keep it
    nothing, ///< commit(0)
    abandon, ///< no commit: another round is drafted
};

template <class Shape>
struct tree_step {
    Shape shape;
    use what = use::keep;
    std::size_t room = 8;
    bool by_last_round = false; ///< drafts only if the last round kept something
};

struct tree_case {
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
    std::uint64_t most_paths = 20'000'000;

    void check(const joint_law& found, const joint_law& wanted) {
        const double tv = total_variation(found, wanted);
        worst = tv > worst ? tv : worst;
        REQUIRE(tv < exact);
    }
    void report(const char* what) const {
        std::printf("%-28s %4llu laws %9llu paths, worst total variation %.1e\n", what,
                    static_cast<unsigned long long>(laws), static_cast<unsigned long long>(paths),
                    worst);
    }
};

inline fixed_tree tree_of(const std::vector<std::size_t>& widths) {
    return fixed_tree::of_widths(widths);
}
inline const fixed_tree& no_tree() {
    static const fixed_tree none = fixed_tree::chain(0);
    return none;
}

/// Runs one path: the steps, then rounds without drafts. Returns the first `length` tokens.
template <class Session, class Target, class D, class Shape, Coin C>
sequence run_trees(Session& text, Target& target, D& drafter, C& coin,
                   const std::vector<tree_step<Shape>>& steps, std::size_t length) {
    sequence found;
    bool kept_some = true;
    for (std::size_t i = 0; found.size() < length; ++i) {
        const bool drafts = i < steps.size() && (kept_some || !steps[i].by_last_round);
        const std::size_t room = i < steps.size() ? steps[i].room : 8;
        const round_result r = drafts ? text.round(target, drafter, steps[i].shape, coin, room)
                                      : text.round(target, drafter, no_tree(), coin, room);
        kept_some = r.accepted > 0;
        const use what = i < steps.size() ? steps[i].what : use::keep;
        if (what == use::abandon) {
            text.abandon();
            continue;
        }
        const std::size_t n = what == use::nothing ? 0 : what == use::part ? 1 : r.tokens.size();
        for (std::size_t k = 0; k < n; ++k)
            found.push_back(r.tokens[k].value);
        if (what == use::commit)
            text.commit(n);
        else
            text.commit(n, drafter);
    }
    found.resize(length);
    return found;
}

/// use(session, target, drafter) of a new session of trees of toy models on one path. DraftModel:
/// toy_tree_model or toy_model (which is fed path by path).
template <template <class> class DraftModel = toy_tree_model, class Rule, class Bridge, class Use,
          class Laws = softmax_rows>
void with_trees(row_tree& p, row_tree& q, const Rule& rule, const Bridge& bridge,
                const session_settings& settings, const Use& use,
                const std::vector<draft_id>& prefix = {}, Laws laws = {}) {
    auto target = model_of<target_id, toy_tree_model<target_id>>(p);
    auto model = model_of<draft_id, DraftModel<draft_id>>(q);
    model_drafter drafter(model);
    session text(bridge, rule, settings, std::move(laws)); // a copy of the bridge
    text.start(std::vector{target_id{0}}, prefix);
    use(text, target, drafter);
}

/// Of one vocabulary for both sides.
inline auto identity_trees(std::size_t vocabulary, const tree_settings& settings) {
    return identity_tree_bridge(identity_map(vocabulary, vocabulary),
                                shared_context(vocabulary, 24), settings);
}

/// The joint law of a session's first tokens.
template <template <class> class DraftModel = toy_tree_model, class C = interval_coin, class Rule,
          class Shape, class MakeBridge>
joint_law tree_law(const Rule& rule, const std::vector<tree_step<Shape>>& steps, const tree_case& c,
                   row_tree& p, row_tree& q, tree_ledger& ledger, const MakeBridge& make_bridge) {
    ++ledger.laws;
    const auto bridge = make_bridge(tree_settings{.max_nodes = c.max_nodes,
                                                  .max_depth = 8,
                                                  .siblings = c.siblings,
                                                  .max_drafted = c.max_drafted});
    return on_every_path<C>(
        [&](C& coin) {
            sequence found;
            with_trees<DraftModel>(
                p, q, rule, bridge,
                {.target = c.target, .draft = c.draft, .capacity = 24, .end_ids = c.end_ids},
                [&](auto& text, auto& target, auto& drafter) {
                    found = run_trees(text, target, drafter, coin, steps, c.length);
                },
                {draft_id{0}});
            return found;
        },
        ledger.paths, ledger.most_paths);
}

/// Checks that law against the target's alone.
template <template <class> class DraftModel = toy_tree_model, class C = interval_coin, class Rule,
          class Shape>
void check_trees(const Rule& rule, const std::vector<tree_step<Shape>>& steps, const tree_case& c,
                 row_tree& p, row_tree& q, tree_ledger& ledger) {
    const joint_law law =
        tree_law<DraftModel, C>(rule, steps, c, p, q, ledger, [&](const tree_settings& settings) {
            return identity_trees(p({}).size(), settings);
        });
    ledger.check(law, target_alone(p, c.length, c.target));
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
