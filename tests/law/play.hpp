// SPDX-License-Identifier: MIT
// How a law test is set up: a world makes the models of a path anew, a bridge and a rule go between
// them, a scenario says what is done. play() gives the law over all paths and what it has to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "scenario.hpp"

namespace specdec::testing {

/// Rows of two vocabularies: p of a seed, q of the next one.
struct toy_rows_of {
    row_tree p, q;

    toy_rows_of(const auto& two, std::uint64_t seed, row_kind p_kind = row_kind::random,
                row_kind q_kind = row_kind::random)
        : p(toy_rows(p_kind, two.target_size(), seed)),
          q(toy_rows(q_kind, two.draft_size(), seed + 1)) {}
    toy_models models() { return {p, q}; }
};

/// Of other models, which make(coin, use) makes; the target's law is that of p.
template <class Make>
struct made_world {
    row_tree& p;
    Make make;

    template <Coin C, class Use>
    void operator()(C& coin, const Use& use) const {
        make(coin, use);
    }
};
template <class Make>
made_world(row_tree&, Make) -> made_world<Make>;

/// Rounds that steps cannot tell: round(text, i) makes the i-th and commits what it likes of it.
template <class Round>
struct rounds_by {
    scenario how;
    Round round;
};
template <class Round>
rounds_by(scenario, Round) -> rounds_by<Round>;

template <class Player, class Round>
sequence run(Player& text, const rounds_by<Round>& s) {
    return text.play(s.how.length, [&](std::size_t i) { s.round(text, i); });
}

/// A scenario whose text tells saw(its session's counts) when it is done.
template <class Saw>
struct watched {
    const scenario& how;
    Saw saw;
};
template <class Saw>
watched(const scenario&, Saw) -> watched<Saw>;

template <class Player, class Saw>
sequence run(Player& text, const watched<Saw>& s) {
    sequence tokens = run(text, s.how);
    s.saw(text.decoder.counts());
    return tokens;
}

inline const scenario& settings_in(const scenario& s) {
    return s;
}
const scenario& settings_in(const auto& s) {
    return s.how;
}

/// The joint law of a session's first tokens, and the target's alone.
struct played {
    joint_law law, wanted;
    std::uint64_t paths = 0;

    [[nodiscard]] double deviation() const { return total_variation(law, wanted); }
};

/// how: a scenario, rounds_by or watched. Laws: what makes the target's laws of its rows. Throws
/// too_many_paths beyond `most`.
template <class C = interval_coin, class World, class WithBridge, class Rule, class How,
          class Laws = softmax_rows>
played play(World&& world, const WithBridge& with_bridge, const Rule& rule, const How& how,
            const Laws& laws = {}, std::uint64_t most = 20'000'000) {
    const scenario& s = settings_in(how);
    const session_start start = start_of(s);
    played found;
    found.law = on_every_path<C>(
        [&](C& coin) {
            sequence text;
            with_session(
                world, with_bridge, rule, start, coin, [&](auto x) { text = run(x, how); }, laws);
            return text;
        },
        found.paths, most);
    found.wanted = target_alone(world.p, s.length, s.target);
    return found;
}

/// What was enumerated.
struct law_ledger {
    std::size_t sessions = 0;
    std::uint64_t paths = 0;
    double worst = 0; ///< total variation

    void check(const played& found) {
        ++sessions;
        paths += found.paths;
        const double tv = found.deviation();
        worst = tv > worst ? tv : worst;
        CHECK(tv < exact);
    }
    void print(const char* what, const char* rule) const {
        std::printf("%-24s %-18s %3zu sessions %9llu paths, worst total variation %.1e\n", what,
                    rule, sessions, static_cast<unsigned long long>(paths), worst);
    }
};

/// check(rule) of each rule that is lossless whatever drafts.
template <class Check>
void for_lossless_rules(const Check& check) {
    check(by_rejection);
    check(by_block);
    check(by_match);
}

/// Checks found(rule, s) of every scenario under those rules.
template <class Found>
void check_under_rules(law_ledger& ledger, const char* name, const std::vector<scenario>& all,
                       const Found& found) {
    for (const scenario& s : all)
        for_lossless_rules([&](const auto& rule) {
            CAPTURE(name, s.name, rule.name);
            ledger.check(found(rule, s));
        });
}

/// Scenarios on rows of several kinds, under each of the rules.
template <class WithBridge, class... Rules>
void check_scenarios(const char* bridge, const auto& two, const std::vector<scenario>& all,
                     const WithBridge& with_bridge, const Rules&... rules) {
    std::uint64_t seed = 39;
    const auto check_rule = [&](const auto& rule) {
        law_ledger ledger;
        for (const scenario& s : all)
            for (const auto& [p_kind, q_kind] : {std::pair{row_kind::random, row_kind::random},
                                                 {row_kind::zeros, row_kind::ties},
                                                 {row_kind::denormal, row_kind::random}}) {
                toy_rows_of rows(two, seed += 2, p_kind, q_kind);
                CAPTURE(bridge, s.name, static_cast<int>(p_kind));
                ledger.check(play(rows.models(), with_bridge, rule, s));
            }
        ledger.print(bridge, rule.name);
    };
    (check_rule(rules), ...);
}

} // namespace specdec::testing
