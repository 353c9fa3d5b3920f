// SPDX-License-Identifier: MIT
// Sessions of several rounds with token bridges and strings that are matched, under every lossless
// rule: the joint law is the target's.
#include "scenario.hpp"

#include <catch2/catch.hpp>

#include <specdec/bridge/no_bridge.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

// Ids permuted, a draft token twice, the beginnings of others, tokens of one side only.
const toy_words& words() {
    static const toy_words two({"a", "b", "ab"}, {"b", "a", "ba", "a"});
    return two;
}
const toy_words& letters() {
    static const toy_words two({"b", "a"}, {"a", "b", "bb"});
    return two;
}

// Behind the piece b the next one is open.
const toy_words& pieces() {
    static const toy_words two({"b", "a"}, {"b", "a", "bb", "ba"});
    return two;
}

void check(const char* bridge, const toy_words& two, const auto& with_bridge,
           std::vector<scenario> (*which)(target_id) = every_scenario) {
    check_scenarios(bridge, two.target_size(), two.draft_size(),
                    which(id_at<target_id>(two.target_size() - 1)), with_bridge,
                    token_rejection{.thinning = {1, 1}}, block_verification{.thinning = {1, 1}},
                    exact_match{}, coupled_match(two.keys));
}

} // namespace

TEST_CASE("sessions without a drafter have the target's law", "[law]") {
    check("none", letters(), [](std::size_t, auto use) { use(no_bridge{}); });
}

TEST_CASE("sessions with one vocabulary have the target's law", "[law]") {
    check("identity", letters(), letters().identity());
}

TEST_CASE("sessions with tli have the target's law", "[law]") {
    check("tli", words(), words().tli());
}

TEST_CASE("sessions with the union have the target's law", "[law]") {
    check("union", words(), words().union_of());
}

TEST_CASE("sessions with nested tli have the target's law", "[law]") {
    check("nested", pieces(), pieces().nested(), short_scenarios);
}

TEST_CASE("sessions with slem have the target's law", "[law]") {
    check("slem", words(), words().slem());
}

TEST_CASE("sessions with guesses by spelling have the target's law", "[law]") {
    check("spelling", words(), words().spelling());
}
