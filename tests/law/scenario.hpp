// SPDX-License-Identifier: MIT
// Sessions of several rounds, whose output law is enumerated through the decisions that ship: every
// number that the production coin would give is split where the code compares it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec/sampling/coin/text_keys.hpp>
#include <specdec/speculation/any/any_verifier.hpp>
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
    abandon, ///< no commit: another round is drafted
    again,   ///< drafted and decided once more, then all of it: it must be the same
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
    const char* name = "";
    std::vector<step> steps{};
    std::size_t length = 2; ///< tokens of the joint law
    sampling_parameters target{};
    sampling_parameters draft{};
    std::size_t max_proposals = 16;
    std::vector<target_id> end_ids{};
    session_start start{}; ///< all but what stands above
};

inline session_start start_of(const scenario& s) {
    session_start start = s.start;
    start.settings.target = s.target;
    start.settings.draft = s.draft;
    start.settings.max_proposals = s.max_proposals;
    start.settings.end_ids = s.end_ids;
    return start;
}

/// The scenarios that every rule x bridge goes through. `end`: a target token that ends drafts.
inline std::vector<scenario> every_scenario(target_id end) {
    constexpr sampling_parameters warm{.temperature = 0.7F, .top_k = 2},
        cool{.temperature = 1.5F, .top_p = 0.8F}, greedy{.temperature = 0};
    constexpr sampling_parameters two{.top_k = 2}, three{.top_k = 3}; // where paths are many
    const step one{.gamma = 1};
    const step if_all_was_kept{.gamma = 1, .by_last_round = true};
    return {
        {"one round", {{.gamma = 2}}, 3},
        {"two rounds", {{.gamma = 2}, one}, 3},
        {"three rounds", {{.gamma = 1, .room = 1}, {.gamma = 2, .room = 2}, one}, 2},
        {"part, then by what was seen",
         {{.gamma = 2, .what = then::part}, if_all_was_kept},
         2,
         {},
         two},
        {"part twice",
         {{.gamma = 2, .what = then::part}, {.gamma = 1, .what = then::part}, if_all_was_kept},
         3,
         two},
        {"not used, then by what was seen", {{.gamma = 1, .what = then::nothing}, if_all_was_kept}},
        {"abandoned and redone", {{.gamma = 1, .what = then::abandon}, {.gamma = 1}, one}},
        {"decided again", {{.gamma = 2, .what = then::again}, one}},
        {"a stop rule that looks", {{.gamma = 2, .threshold = 0.4}, one}},
        {"rooms that cut", {{.gamma = 2, .room = 2}, {.gamma = 2, .room = 2}}},
        {"proposals that are cut", {{.gamma = 2}, one}, 2, {}, {}, 1},
        {"other parameters on both sides", {{.gamma = 2}, one}, 2, warm, cool},
        {"a greedy drafter", {{.gamma = 2}, one}, 2, cool, greedy},
        {"an end inside", {{.gamma = 2}, one}, 2, {}, three, 16, {end}},
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

/// A rule that is lossless whatever drafts, by its name. All are of one type, the one that
/// `speculation` decodes with: each session is compiled once.
struct lossless_rule : any_verifier {
    const char* name;
};
inline const lossless_rule by_rejection{token_rejection{.thinning = {1, 1}}, "token rejection"};
inline const lossless_rule by_block{block_verification{.thinning = {1, 1}}, "block verification"};
inline const lossless_rule by_match{exact_match{}, "exact match"};
inline lossless_rule by_coupling(const text_keys& keys) {
    return {coupled_match(keys), "coupled match"};
}

/// Does with a round's result what the driver does.
template <class Session>
void commit_as(then what, Session& decoder, const round_result& r) {
    if (what == then::abandon)
        return decoder.abandon();
    const bool all = what == then::commit || what == then::again;
    decoder.commit(all ? r.tokens.size() : what == then::part ? 1 : 0);
}

/// Runs one path of a session: the scenario's rounds, then rounds without drafts (which may draw
/// again what was drawn before). Returns the first `length` tokens that it committed.
template <class Player>
sequence run(Player& text, const scenario& s) {
    bool kept_all = true;
    return text.play(s.length, [&](std::size_t i) {
        const step now = i < s.steps.size() ? s.steps[i] : step{.gamma = 0};
        const confidence stop{now.threshold, now.by_last_round && !kept_all ? 0 : now.gamma};
        round_result r = text.round(stop, now.room);
        if (now.what == then::again) {
            const sequence first = values_of(r.tokens);
            r = text.round(stop, now.room);
            REQUIRE(values_of(r.tokens) == first);
        }
        kept_all = r.accepted == r.proposed.size();
        commit_as(now.what, text.decoder, r);
    });
}

} // namespace specdec::testing
