// SPDX-License-Identifier: MIT
// Sessions of several rounds with token bridges and strings that are matched, under every lossless
// rule: the joint law is the target's.
#include "scenario.hpp"

#include <catch2/catch.hpp>

#include <specdec/bridge/no_bridge.hpp>

#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

const toy_words& letters() {
    static const toy_words two({"b", "a"}, {"a", "b", "bb"});
    return two;
}

// Behind the piece b the next one is open.
const toy_words& pieces() {
    static const toy_words two({"b", "a"}, {"b", "a", "bb", "ba"});
    return two;
}

} // namespace

TEST_CASE("sessions without a drafter have the target's law", "[law]") {
    check_session_rules("none", letters(), [](std::size_t, auto use) { use(no_bridge{}); });
}

TEST_CASE("sessions with one vocabulary have the target's law", "[law]") {
    check_session_rules("identity", letters(), letters().identity());
}

TEST_CASE("sessions with tli have the target's law", "[law]") {
    check_session_rules("tli", permuted_words(), permuted_words().tli());
}

TEST_CASE("sessions with the union have the target's law", "[law]") {
    check_session_rules("union", permuted_words(), permuted_words().union_of());
}

TEST_CASE("sessions with nested tli have the target's law", "[law]") {
    check_session_rules("nested", pieces(), pieces().nested(), short_scenarios);
}

TEST_CASE("sessions with slem have the target's law", "[law]") {
    check_session_rules("slem", permuted_words(), permuted_words().slem());
}

TEST_CASE("sessions with guesses by spelling have the target's law", "[law]") {
    check_session_rules("spelling", permuted_words(), permuted_words().spelling());
}
