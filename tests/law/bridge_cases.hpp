// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <catch2/catch.hpp>

#include <specdec/bridge/no_bridge.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/bridge/slrs.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/union.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "session_law.hpp"
#include "support/tiny_tokenizer.hpp"

namespace specdec::testing {

inline constexpr token_rejection rejection{.thinning = {1, 1}};

using target_words = tiny_tokenizer<target_id>;
using draft_words = tiny_tokenizer<draft_id>;

/// Two tokenizers over {a, b}: shared pieces, pieces of one side only, ids permuted. Id 0 is the
/// prompt's token (a) on both sides.
struct pair_of_tokenizers {
    target_words target{{"a", "b", "ab", "<end>"}};
    draft_words draft{{"a", "ba", "<end>", "b"}};
    id_map map = intersect(draft.table(), target.table(), [] {
        equivalences same;
        same.add(draft_id{2}, target_id{3});
        return same;
    }());
};

/// A pair of tokenizers with the tables that SLRS needs.
template <class Target, class Draft>
struct slrs_pair {
    Target target;
    Draft draft;
    id_map map = intersect(draft.table(), target.table());
    byte_order<draft_id> order{draft};
    safe_cuts edges{target};

    [[nodiscard]] auto translation() const {
        return retokenising(target, draft, map, order, edges);
    }
    [[nodiscard]] auto bridge(std::size_t gamma, double min_draft_probability = 0) const {
        return make_slrs_bridge(target, draft, map, order, edges, 16,
                                {gamma, min_draft_probability});
    }
};

template <class Check>
void for_every_pair_of_rows(std::size_t target_size, std::size_t draft_size, Check check) {
    std::uint64_t seed = 100;
    for (const row_kind p_kind : row_kinds)
        for (const row_kind q_kind : row_kinds) {
            row_tree p(toy_rows(p_kind, target_size, ++seed));
            row_tree q(toy_rows(q_kind, draft_size, ++seed));
            CAPTURE(static_cast<int>(p_kind), static_cast<int>(q_kind));
            check(p, q);
        }
}

/// The first round of a session has the target's law: make_bridge(gamma) under a rule, over all
/// kinds of rows, draft lengths, a stop rule that looks at the draft, and sampling parameters.
template <class CoinType = interval_coin, class MakeBridge, class Rule>
void check_rounds_of(const Rule& rule, MakeBridge make_bridge, std::size_t target_size,
                     std::size_t draft_size, std::size_t longest = 3) {
    for_every_pair_of_rows(target_size, draft_size, [&](row_tree& p, row_tree& q) {
        const auto check = [&](const law_case& c) {
            CAPTURE(c.gamma, c.length, c.threshold);
            REQUIRE(total_variation(session_law<CoinType>(make_bridge(c.gamma), rule, c),
                                    target_alone(p, c.length, c.parameters)) < exact);
        };
        for (std::size_t gamma = 1; gamma <= longest; ++gamma)
            check({p, q, gamma, gamma + 1});
        check({p, q, longest, longest + 1, {}, 0.4});
        const sampling_parameters cut{.temperature = 0.7F, .top_k = 2};
        check({p, q, 2, 3, cut});
    });
}

/// The same under token rejection and exact match.
template <class CoinType = interval_coin, class MakeBridge>
void check_rounds(MakeBridge make_bridge, std::size_t target_size, std::size_t draft_size) {
    check_rounds_of<CoinType>(rejection, make_bridge, target_size, draft_size);
    check_rounds_of<CoinType>(exact_match{}, make_bridge, target_size, draft_size);
}

/// Whole decodes by the bridges of the small pair, and without one, have the target's law of texts.
/// They take more than one round: no decision of a later one may have the site of an earlier one.
template <class... Rules>
void check_decodes_of(const Rules&... rules) {
    const pair_of_tokenizers two;
    const retokenised_context<target_words, draft_words> context(two.target, two.draft, two.map,
                                                                 16);
    for_decoded_texts(two.target, 500, [&](const auto& check_rule) {
        const auto check = [&](const auto& bridge) { (check_rule(bridge, rules), ...); };
        check(no_bridge{});
        check(tli_bridge<target_words, draft_words>(tli_map(two.map), context, 2));
        check(union_bridge<target_words, draft_words>(union_map(two.map), context, 2));
        check(slem_bridge(two.target, two.draft, two.map, 16, 2));
    });
}

} // namespace specdec::testing
