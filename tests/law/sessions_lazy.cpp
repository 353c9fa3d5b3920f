// SPDX-License-Identifier: MIT
// Sessions of several rounds with bridges whose laws are sums that are compared, not finished,
// under every lossless rule: the joint law through those comparisons is the target's.
#include "scenario.hpp"

#include <catch2/catch.hpp>

#include <specdec/sampling/coin.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr target_id last{2}; // ends drafts where a scenario has an end

// Two spellings of aa, one of them by chance.
const toy_words& words() {
    static const toy_words two({"a", "b", "aa"}, {"a", "b"});
    return two;
}
// A draft token of two tokens of the target, and one token twice.
const toy_words& overlapping() {
    static const toy_words two({"a", "b", "c"}, {"a", "bb", "b", "c"});
    return two;
}
// Two tokens that only n-grams spell, for one of which the cache has room.
const toy_words& learning() {
    static const toy_words two({"a", "b", "ab", "ba"}, {"b", "a"});
    return two;
}

void check(const char* bridge, const toy_words& two, const auto& with_bridge,
           const std::vector<scenario>& which) {
    check_scenarios(bridge, two.target_size(), two.draft_size(), which, with_bridge,
                    token_rejection{.thinning = {1, 1}}, block_verification{.thinning = {1, 1}},
                    exact_match{}, coupled_match(two.keys));
}

} // namespace

TEST_CASE("sessions with slrs have the target's law", "[law]") {
    check("slrs", words(), words().slrs(0), every_scenario(last));
    check("slrs, light drafts end", words(), words().slrs(0.3), short_scenarios(last));
}

TEST_CASE("sessions with slrs have the target's law, tokens that overlap", "[law]") {
    check("slrs, overlapping", overlapping(), overlapping().slrs(0.02), short_scenarios(last));
}

TEST_CASE("sessions with merged n-grams have the target's law", "[law]") {
    check("merge", learning(), learning().merge(0, {{{1, 0}, 2}}), every_scenario(last));
}

TEST_CASE("sessions with merged n-grams have the target's law, light drafts end", "[law]") {
    check("merge, light drafts end", words(), words().merge(0.3, {{{0, 0}, 2}}),
          short_scenarios(last));
}
