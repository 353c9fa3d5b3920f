// SPDX-License-Identifier: MIT
// What seeds give: every rule, chains and trees, with lookup and without, 200 seeds each, as
// recorded in tests/golden/seeds.txt. A change of structure leaves these outputs as they are. A
// change of draws records them again, test_speculation "[.record-seeds]", and the changelog names
// the rules.
#include <specdec/speculation/speculation.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/weighted_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace recorded_seeds_tests {

const std::string file = SPECDEC_SOURCE_DIR "/tests/golden/seeds.txt";

/// FNV-1a of the tokens and ends of 200 outputs.
std::uint64_t outputs_of(speculation& pair, decode_settings s) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto add = [&](std::uint64_t number) { hash = (hash ^ number) * 0x100000001b3U; };
    for (s.seed = 0; s.seed < 200; ++s.seed) {
        const decode_result output = pair.generate("abcabcaab", s);
        for (const target_id token : output.tokens)
            add(static_cast<std::uint64_t>(token.value));
        add(1000 + output.counts.rounds);
        add(2000 + output.counts.accepted);
    }
    return hash;
}

/// A line for each way of drafting.
std::vector<std::string> record() {
    std::vector<std::string> lines;
    const std::vector<std::pair<std::string, std::optional<tree_drafts>>> shapes{
        {"chain", std::nullopt},
        {"tree-2-2-1", tree_drafts{.widths = {2, 2, 1}}},
        {"tree-planned", tree_drafts{.nodes = 5, .costs = cost_table{}}},
        {"tree-dynamic", tree_drafts{.nodes = 5, .growth = tree_growth::dynamic}}};
    for (const bool equal : {true, false})
        for (const named_rule& r : rules)
            for (const auto& [shape, tree] : shapes)
                for (const float temperature : {0.0F, 0.7F, 1.0F})
                    for (const bool lookup : {false, true}) {
                        if ((tree && !can_draft_trees(r.rule)) || (tree && temperature == 0.7F) ||
                            (lookup && (!takes_drafter(r.rule) || temperature == 0.7F)))
                            continue;
                        weighted_pair toys(equal); // nothing is taken over from others
                        if (!toys.pair.applies(r.rule))
                            continue;
                        decode_settings s{.rule = r.rule,
                                          .sampling = {.temperature = temperature},
                                          .lengths = {.kind = length_kind::fixed, .length = 3},
                                          .tree = tree,
                                          .limits = {.max_tokens = 16},
                                          .carry = reuse_settings::nothing()};
                        s.lookup = {.beside = lookup, .shared = false};
                        char hash[17];
                        std::snprintf(hash, sizeof hash, "%016llx",
                                      static_cast<unsigned long long>(outputs_of(toys.pair, s)));
                        std::ostringstream line;
                        line << (equal ? "equal" : "other") << ' ' << r.name << ' ' << shape
                             << " T=" << temperature << (lookup ? " lookup " : " - ") << hash;
                        lines.push_back(line.str());
                    }
    return lines;
}

TEST_CASE("recorded seeds: every rule gives the outputs that were recorded", "[computes]") {
    std::ifstream in(file);
    std::vector<std::string> recorded;
    for (std::string line; std::getline(in, line);)
        recorded.push_back(line);
    CHECK(recorded.size() > 100);
    std::size_t same = 0;
    for (const std::string& line : record()) {
        INFO("of a new rule: record it with test_speculation \"[.record-seeds]\"");
        const bool found = std::find(recorded.begin(), recorded.end(), line) != recorded.end();
        CHECKED_IF(found) {
            ++same;
        }
        CHECKED_ELSE(found) {
            FAIL_CHECK("not recorded: " + line);
        }
    }
    CHECK(same == recorded.size());
}

TEST_CASE("recorded seeds: record them again", "[.record-seeds]") {
    const std::vector<std::string> lines = record(); // first: whoever interrupts it loses nothing
    std::ofstream out(file);
    for (const std::string& line : lines)
        out << line << '\n';
    CHECK(out.good());
}

} // namespace recorded_seeds_tests
