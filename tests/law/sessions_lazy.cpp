// SPDX-License-Identifier: MIT
// Sessions of several rounds with bridges whose laws are sums that are compared, not finished,
// under every lossless rule: the joint law through those comparisons is the target's.
#include "scenario.hpp"

#include <catch2/catch.hpp>

#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

// A draft token of two tokens of the target, and one token twice.
const toy_words& overlapping() {
    static const toy_words two({"a", "b", "c"}, {"a", "bb", "b", "c"});
    return two;
}
// One draft token twice, and each may begin the same target token.
const toy_words& twins() {
    static const toy_words two({"a", "aa"}, {"a", "a"});
    return two;
}
// Two tokens that only n-grams spell, for one of which the cache has room.
const toy_words& learning() {
    static const toy_words two({"a", "b", "ba", "ab"}, {"b", "a"});
    return two;
}

} // namespace

TEST_CASE("sessions with slrs have the target's law", "[law]") {
    check_session_rules("slrs", twofold_words(), twofold_words().slrs(0));
    check_session_rules("slrs, light drafts end", twofold_words(), twofold_words().slrs(0.3),
                        short_scenarios);
}

TEST_CASE("sessions with slrs have the target's law, tokens that overlap", "[law]") {
    check_session_rules("slrs, overlapping", overlapping(), overlapping().slrs(0.02),
                        short_scenarios);
    check_session_rules("slrs, twins", twins(), twins().slrs(0), short_scenarios);
}

TEST_CASE("sessions with merged n-grams have the target's law", "[law]") {
    check_session_rules("merge", learning(), learning().merge(0, {{{1, 0}, 3}}));
}

TEST_CASE("sessions with merged n-grams have the target's law, light drafts end", "[law]") {
    check_session_rules("merge, light drafts end", twofold_words(),
                        twofold_words().merge(0.3, {{{0, 0}, 2}}), short_scenarios);
}
