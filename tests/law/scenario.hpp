// SPDX-License-Identifier: MIT
// Sessions of several rounds, whose output law is enumerated through the decisions that ship: every
// number that the production coin would give is split where the code compares it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/testing/interval_coin.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "session_law.hpp"

namespace specdec::testing {

/// What the driver does with a round's result.
enum class then : std::uint8_t {
    commit,  ///< all of it
    part,    ///< its first token only
    nothing, ///< commit(0): paid for, not used
    abandon, ///< no commit: the same round is drafted again
};

/// One round: how long it may draft, and how.
struct step {
    std::size_t gamma = 2;      ///< draft tokens
    std::size_t room = 8;       ///< target tokens that the round may commit
    double threshold = 0;       ///< of the confidence stop rule, which looks at drawn tokens
    then what = then::commit;   ///< with the result
    bool by_last_round = false; ///< drafts only if the last round's proposals were all kept
};

/// A session of several rounds.
struct scenario {
    const char* name;
    std::vector<step> steps;
    std::size_t length = 2; ///< tokens of the joint law
    sampling_parameters target{};
    sampling_parameters draft{};
    std::size_t max_proposals = 16;
    std::vector<target_id> end_ids{};
};

inline session_settings settings_of(const scenario& s) {
    return {.target = s.target,
            .draft = s.draft,
            .capacity = 16,
            .max_proposals = s.max_proposals,
            .end_ids = s.end_ids};
}

/// The scenarios that every rule x bridge goes through. `end`: a target token that ends drafts.
inline std::vector<scenario> every_scenario(target_id end) {
    constexpr sampling_parameters warm{.temperature = 0.7F, .top_k = 2},
        cool{.temperature = 1.5F, .top_p = 0.8F}, greedy{.temperature = 0};
    const step one{.gamma = 1};
    const step if_all_was_kept{.gamma = 1, .by_last_round = true};
    return {
        {"one round", {{.gamma = 2}}, 3},
        {"two rounds", {{.gamma = 2}, one}, 3},
        {"three rounds", {{.gamma = 1, .room = 1}, {.gamma = 2, .room = 2}, one}, 2},
        {"part, then by what was seen", {{.gamma = 2, .what = then::part}, if_all_was_kept}, 2},
        {"part twice",
         {{.gamma = 2, .what = then::part}, {.gamma = 1, .what = then::part}, if_all_was_kept},
         3},
        {"not used, then by what was seen", {{.gamma = 1, .what = then::nothing}, if_all_was_kept}},
        {"abandoned and redone", {{.gamma = 2, .what = then::abandon}, {.gamma = 2}, one}},
        {"a stop rule that looks", {{.gamma = 2, .threshold = 0.4}, one}},
        {"rooms that cut", {{.gamma = 2, .room = 2}, {.gamma = 2, .room = 2}}},
        {"proposals that are cut", {{.gamma = 2}, one}, 2, {}, {}, 1},
        {"other parameters on both sides", {{.gamma = 2}, one}, 2, warm, cool},
        {"a greedy drafter", {{.gamma = 2}, one}, 2, cool, greedy},
        {"an end inside", {{.gamma = 2}, one}, 2, {}, {}, 16, {end}},
    };
}

/// Those of one or two rounds and two tokens: for pairs with many paths.
inline std::vector<scenario> short_scenarios(target_id end) {
    std::vector<scenario> few;
    for (const scenario& s : every_scenario(end))
        if (s.steps.size() <= 2 && s.length <= 2)
            few.push_back(s);
    return few;
}

inline const char* rule_name(const token_rejection&) {
    return "token rejection";
}
inline const char* rule_name(const block_verification&) {
    return "block verification";
}
inline const char* rule_name(const exact_match&) {
    return "exact match";
}
inline const char* rule_name(const coupled_match&) {
    return "coupled match";
}

/// What was enumerated.
struct law_ledger {
    std::size_t sessions = 0;
    std::uint64_t paths = 0;
    double worst = 0;
};

/// Does with a round's result what the driver does.
template <class Session>
void commit_as(then what, Session& decoder, const round_result& r) {
    if (what != then::abandon)
        decoder.commit(what == then::commit ? r.tokens.size() : what == then::part ? 1 : 0);
}

/// Runs one path of a session: the scenario's rounds, then rounds without drafts (which may draw
/// again what was drawn before). Returns the first `length` tokens that it committed.
template <class Session, class Target, class D, Coin C>
sequence run_scenario(Session& decoder, Target& target, D& drafter, C& coin, const scenario& s) {
    bool kept_all = true;
    return play(decoder, s.length, [&](std::size_t i) {
        const step now = i < s.steps.size() ? s.steps[i] : step{.gamma = 0};
        const confidence stop{now.threshold, now.by_last_round && !kept_all ? 0 : now.gamma};
        const round_result r = decoder.round(target, drafter, stop, coin, now.room);
        kept_all = r.accepted == r.proposed.size();
        commit_as(now.what, decoder, r);
    });
}

/// Adds the coin's path of a session to the law.
template <class Session, class Target, class D, Coin C>
void add_session(joint_law& law, Session decoder, const scenario& s, Target& target, D& drafter,
                 C& coin, const std::vector<target_id>& prompt = {target_id{0}},
                 const std::vector<draft_id>& prefix = {draft_id{0}}) {
    decoder.start(prompt, prefix);
    const sequence text = run_scenario(decoder, target, drafter, coin, s);
    law[text] += coin.probability();
}

/// Checks deviation(rule, s) of every scenario under the rules that are lossless whatever drafts;
/// the largest of them.
template <class Deviation>
[[nodiscard]] double worst_under_rules(const char* name, const std::vector<scenario>& all,
                                       const Deviation& deviation) {
    double worst = 0;
    for (const scenario& s : all) {
        const auto note = [&](const auto& rule) {
            const double tv = deviation(rule, s);
            CAPTURE(name, s.name, rule_name(rule));
            CHECK(tv < 1e-12);
            worst = tv > worst ? tv : worst;
        };
        note(token_rejection{.thinning = {1, 1}});
        note(block_verification{.thinning = {1, 1}});
        note(exact_match{});
    }
    return worst;
}

/// The joint law of a session's first tokens.
template <class C, class WithBridge, class Rule>
joint_law scenario_law(const WithBridge& with_bridge, const Rule& rule, const scenario& s,
                       row_tree& p, row_tree& q, std::size_t target_size, std::size_t draft_size,
                       law_ledger& ledger) {
    joint_law law;
    enumerate<C>([&](C& coin) {
        auto target = model_of<target_id>(p, target_size);
        auto draft = model_of<draft_id>(q, draft_size);
        model_drafter drafter(draft);
        with_bridge(std::size_t{2}, [&](auto bridge) {
            add_session(law, session(std::move(bridge), rule, settings_of(s)), s, target, drafter,
                        coin);
        });
        if (++ledger.paths > 3000000)
            throw "too many paths";
    });
    ++ledger.sessions;
    return law;
}

/// Scenarios on rows of several kinds, under each of the rules.
template <class WithBridge, class... Rules>
void check_scenarios(const char* bridge, std::size_t target_size, std::size_t draft_size,
                     const std::vector<scenario>& all, const WithBridge& with_bridge,
                     const Rules&... rules) {
    std::uint64_t seed = 40;
    const auto check_rule = [&](const auto& rule) {
        law_ledger ledger;
        for (const scenario& s : all)
            for (const auto& [p_kind, q_kind] : {std::pair{row_kind::random, row_kind::random},
                                                 {row_kind::zeros, row_kind::ties},
                                                 {row_kind::denormal, row_kind::random}}) {
                row_tree p(toy_rows(p_kind, target_size, ++seed));
                row_tree q(toy_rows(q_kind, draft_size, ++seed));
                CAPTURE(bridge, s.name, static_cast<int>(p_kind));
                const double tv =
                    total_variation(scenario_law<interval_coin>(with_bridge, rule, s, p, q,
                                                                target_size, draft_size, ledger),
                                    target_alone(p, s.length, s.target));
                ledger.worst = tv > ledger.worst ? tv : ledger.worst;
                REQUIRE(tv < 1e-12);
            }
        std::printf("%-24s %-18s %3zu sessions %9llu paths, worst total variation %.1e\n", bridge,
                    rule_name(rule), ledger.sessions, static_cast<unsigned long long>(ledger.paths),
                    ledger.worst);
    };
    (check_rule(rules), ...);
}

} // namespace specdec::testing
