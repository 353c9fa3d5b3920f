// SPDX-License-Identifier: MIT
// `compare --why`: each cause is named where the figures support it, and nowhere else.
#include "support/output/diagnosis.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis_tests {

using namespace specdec;
using namespace specdec::examples;
using Catch::Contains;

/// 100 rounds of three proposals, of which 70 % are accepted wherever they stand, at costs at which
/// drafts pay; the prompt takes little. Nothing limits it.
rule_figures fine() {
    rule_figures f;
    f.rule = "slem";
    f.costs = cost_table{.pass = {1, 1.05, 1.1, 1.15, 1.2}, .draft = 0.1};
    f.counts.rounds = 100;
    f.counts.proposed = 300;
    f.counts.evaluated_at = {100, 70, 49};
    f.counts.accepted_at = {70, 49, 34};
    f.counts.evaluated = 219;
    f.counts.accepted = 153;
    f.by_text = {{20, 64, 110, 77}, {60, 64, 109, 76}};
    f.longest_context = 512;
    f.speedup = 1.4;
    f.output_token_speedup = 1.45;
    f.first_token_speedup = 0.95;
    f.first_share = f.plain_first_share = 0.05;
    f.draft_share = 0.15;
    f.target_share = 0.8;
    f.verify_share = 0.02;
    return f;
}

/// The same with acceptance rates by position, of `rounds` rounds.
void accept(rule_figures& f, const std::vector<double>& rates, std::uint64_t rounds = 100) {
    statistics& c = f.counts;
    c = {};
    c.rounds = rounds;
    c.proposed = rounds * rates.size();
    double left = static_cast<double>(rounds);
    for (const double rate : rates) {
        c.evaluated_at.push_back(static_cast<std::uint64_t>(left));
        left *= rate;
        c.accepted_at.push_back(static_cast<std::uint64_t>(left));
        c.evaluated += c.evaluated_at.back();
        c.accepted += c.accepted_at.back();
    }
}

void leave_empty(rule_figures& f, no_draft why, std::uint64_t rounds) {
    f.counts.without_draft[static_cast<std::size_t>(why)] = rounds;
}

/// As one line.
std::string flat(std::string text) {
    for (std::size_t at; (at = text.find("\n    ")) != std::string::npos;)
        text.replace(at, 5, " ");
    return text;
}

/// The only cause.
finding only(const rule_figures& f) {
    const std::vector<finding> found = diagnose(f);
    std::string all;
    for (const finding& one : found)
        all += std::string(name(one.cause)) + ": " + one.limits + "\n";
    CAPTURE(all);
    REQUIRE(found.size() == 1);
    return found.front();
}

TEST_CASE("diagnosis: figures that show nothing have no cause") {
    CHECK(diagnose(fine()).empty());
    CHECK_THAT(report(fine()), Contains("These figures show nothing that limits it."));
    rule_figures unknown = fine();
    unknown.costs.reset();
    unknown.longest_context = 0;
    CHECK(diagnose(unknown).empty());
    CHECK(to_json(unknown)["draft_token"].is_null());
    CHECK(diagnose(rule_figures{}).empty()); // nothing was decoded
}

TEST_CASE("diagnosis: a rule that gains enough is limited by its prompt at most") {
    rule_figures f = fine();
    f.costs->draft = 0.9;
    f.verify_share = 0.5;
    CHECK(diagnose(f).size() == 2);
    f.output_token_speedup = 1.5;
    CHECK(diagnose(f).empty());
}

TEST_CASE("diagnosis: a draft length of 0") {
    rule_figures f = fine();
    f.lengths = length_kind::fixed;
    f.length = 0;
    f.counts = {};
    f.counts.rounds = 100;
    leave_empty(f, no_draft::stop_rule, 100);
    CHECK(only(f).cause == limit::no_length);
    CHECK_THAT(only(f).change, Contains("--draft-length"));
}

TEST_CASE("diagnosis: automatic lengths that switched themselves off") {
    rule_figures f = fine();
    accept(f, {0.4}, 60);
    f.counts.rounds = 200;
    leave_empty(f, no_draft::stop_rule, 140);
    f.costs = cost_table{.pass = {1, 1.19}, .draft = 0.19};
    f.length = 1;
    CHECK(f.paying_acceptance() == Approx(0.38));
    f.costs = cost_table{.pass = {1, 1.3}, .draft = 0.19};
    const std::vector<finding> found = diagnose(f);
    REQUIRE(found.size() == 3);
    CHECK(found[0].cause == limit::switched_off);
    CHECK(found[0].limits ==
          "Automatic lengths drafted in 30 % of the rounds: at these costs drafts "
          "pay from a conditional acceptance rate of 49 % on, and it was 40 %.");
    CHECK_THAT(found[0].change, Contains("a fixed --draft-length would be slower"));
    CHECK(found[1].cause == limit::passes);
    CHECK(found[2].cause == limit::acceptance);
    f.costs = cost_table{.pass = {1, 1.9}, .draft = 0.19};
    CHECK_THAT(diagnose(f).front().limits, Contains("even drafts that are always accepted"));
    f.costs = cost_table{.pass = {1, 1.1}, .draft = 0.1}; // the rounds have shown others
    CHECK_THAT(diagnose(f).front().limits, Contains("it was 40 %, so rounds took longer"));
    CHECK_THAT(diagnose(f).front().change, Contains("while nothing else uses the machine"));
    accept(f, {0.4}, 40);
    f.counts.rounds = 200;
    leave_empty(f, no_draft::stop_rule, 160);
    CHECK_THAT(only(f).limits, Contains("too few proposals were verified to tell it"));
    f.costs = cost_table{.pass = {1, 1.9}, .draft = 0.19};
    f.lengths = length_kind::confidence; // which goes by no costs
    CHECK(diagnose(f).front().cause == limit::passes);
}

TEST_CASE("diagnosis: rounds without a draft name their reason") {
    for (const auto& [why, change] :
         {std::pair{no_draft::no_room, "-n"}, std::pair{no_draft::drafter_full, "context"},
          std::pair{no_draft::nothing_shared, "slem"},
          std::pair{no_draft::nothing_to_say, "ends-of-turns"},
          std::pair{no_draft::nothing_found, "--lookup"},
          std::pair{no_draft::drafter_failed, "a-drafter-that-throws"},
          std::pair{no_draft::drafter_reads, "larger pieces"}}) {
        rule_figures f = fine();
        f.counts.rounds = 125;
        leave_empty(f, why, 12);
        CHECK(diagnose(f).empty()); // less than a tenth
        leave_empty(f, why, 25);
        CHECK(only(f).cause == limit::no_draft);
        CHECK_THAT(only(f).limits, Contains("20 % of the rounds had no draft, because "));
        CHECK_THAT(only(f).change, Contains(change));
    }
}

TEST_CASE("diagnosis: passes over several positions") {
    rule_figures f = fine();
    f.costs->pass = {1, 1.5, 2, 2.5, 3};
    CHECK(only(f).cause == limit::passes);
    CHECK(only(f).limits ==
          "Scoring a proposal costs 0.50 of a target pass over one position, and a "
          "pass over two costs 1.50.");
    CHECK_THAT(only(f).change, !Contains("--sequences"));
    f.costs->pass = {1, 1.01, 1.02, 1.03, 1.04, 2, 3, 4}; // four texts of four positions are 16
    CHECK(diagnose(f).empty());
    f.texts = 4;
    f.costs->draft = 0.01;
    CHECK(f.scored_proposal() == Approx((12 / 1.03 - 1) / 3));
    CHECK(only(f).cause == limit::passes);
    CHECK_THAT(only(f).change, Contains("--sequences"));
}

TEST_CASE("diagnosis: an expensive drafter") {
    rule_figures f = fine();
    f.costs->draft = 0.31;
    CHECK(only(f).cause == limit::drafter);
    CHECK_THAT(only(f).limits, Contains("A draft token costs 0.31 of a target pass"));
    f.drafter = false; // what is looked up costs none
    CHECK(diagnose(f).empty());
}

TEST_CASE("diagnosis: a rule that takes time itself") {
    rule_figures f = fine();
    f.verify_share = 0.3;
    CHECK(only(f).cause == limit::verification);
    CHECK_THAT(only(f).limits, Contains("30 %"));
}

TEST_CASE("diagnosis: rejected proposals") {
    rule_figures f = fine();
    accept(f, {0.4, 0.3, 0.3});
    CHECK(only(f).cause == limit::acceptance);
    CHECK(only(f).limits == "The target accepts 36 % of the verified proposals; by position in the "
                            "draft 40, 30 and 25 %.");
    CHECK_THAT(only(f).change, Contains("low-acceptance-at-temperature-0"));
    f.temperature = 1;
    CHECK_THAT(only(f).change, Contains("lower temperature"));
    f.exact_match = true;
    CHECK_THAT(only(f).change, Contains("rejection sampling"));
    accept(f, {0.4, 0.3, 0.3}, 20); // too few to tell
    CHECK(diagnose(f).empty());
}

TEST_CASE("diagnosis: a fixed length that is too long") {
    rule_figures f = fine();
    accept(f, {0.8, 0.7, 0.1, 0.1, 0.1, 0.1}, 1000);
    f.costs = cost_table{.pass = {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6}, .draft = 0.1};
    CHECK(diagnose(f).empty()); // automatic lengths know
    f.lengths = length_kind::fixed;
    CHECK(only(f).cause == limit::length);
    // (1 + 0.8 + 0.56) / 1.4 in place of (1 + 0.8 + 0.56 + 0.056 + ...) / 2.2
    CHECK_THAT(only(f).limits, Contains("rounds with 2 proposals in place of 6 are expected to be "
                                        "1.5"));
    f.tree = true;
    CHECK(diagnose(f).empty());
}

TEST_CASE("diagnosis: acceptance that falls with the prompt") {
    rule_figures f = fine();
    f.by_text = {{40, 64, 100, 70}, {50, 64, 100, 70}, {900, 64, 100, 30}, {1000, 64, 100, 30}};
    CHECK(only(f).cause == limit::context);
    CHECK(only(f).limits == "Acceptance falls with the prompt, from 70 % for at most 50 tokens to "
                            "30 % for more; the drafter's file names a context of 512 tokens.");
    f.longest_context = 0;
    CHECK_THAT(only(f).limits, Contains("names no longest context"));
    f.by_text = {{40, 64, 30, 21}, {900, 64, 30, 9}}; // too few to tell
    CHECK(diagnose(f).empty());
    f.by_text = {{40, 64, 100, 70}, {900, 64, 100, 60}}; // hardly
    CHECK(diagnose(f).empty());
    f.by_text = {{40, 64, 60, 26}, {900, 64, 60, 18}}; // may be chance
    CHECK(diagnose(f).empty());
    f.by_text = {{40, 64, 100, 70}, {900, 64, 100, 30}};
    f.drafter = false;
    CHECK(diagnose(f).empty());
}

TEST_CASE("diagnosis: sequences beyond the drafter's context") {
    rule_figures f = fine();
    f.by_text = {{900, 64, 219, 81}};
    CHECK(diagnose(f).empty()); // it is accepted all the same
    accept(f, {0.4, 0.3, 0.3});
    const std::vector<finding> found = diagnose(f);
    REQUIRE(found.size() == 2);
    CHECK(found[0].cause == limit::acceptance);
    CHECK(found[1].cause == limit::context);
    CHECK_THAT(found[1].limits, Contains("up to 964 tokens") && Contains("of 512 tokens"));
    f.longest_context = 964;
    CHECK(only(f).cause == limit::acceptance);
}

TEST_CASE("diagnosis: looked-up proposals that are rejected") {
    rule_figures f = fine();
    f.counts.looked_up = 120;
    f.counts.looked_up_accepted = 20;
    CHECK(only(f).cause == limit::lookup);
    CHECK(only(f).limits ==
          "40 % of the proposals are looked up, and 17 % of these are accepted; of "
          "the drafter's it is 74 %.");
    f.counts.looked_up_accepted = 60;
    CHECK(diagnose(f).empty());
}

TEST_CASE("diagnosis: prompts that take the time") {
    rule_figures f = fine();
    f.plain_first_share = 0.45;
    f.output_token_speedup = 1.8;
    f.speedup = 1.25;
    CHECK(only(f).cause == limit::prompt);
    CHECK(only(f).limits ==
          "The time to the first token is 45 % of plain decoding's, and drafts do not shorten it: "
          "output tokens are 1.80x as fast, the whole run 1.25x.");
    f.texts = 2; // where others decode meanwhile
    CHECK(diagnose(f).empty());
    f = fine();
    f.first_share = 0.3;
    f.first_token_speedup = 0.6;
    CHECK(only(f).cause == limit::drafter_prompt);
    CHECK_THAT(only(f).limits, Contains("take 1.67 times as long"));
}

TEST_CASE("diagnosis: the report and JSON have the same figures and causes") {
    rule_figures f = fine();
    f.temperature = 1;
    f.costs->draft = 0.31;
    f.counts.rounds = 105;
    leave_empty(f, no_draft::no_room, 5);
    const std::string text = flat(report(f));
    CHECK_THAT(text, Contains("T = 1, slem: 1.40x, output tokens 1.45x\n"));
    CHECK_THAT(text, Contains("a draft token 0.31, a pass over 2, 3, 5, 9 positions 1.05, 1.10, "
                              "1.20, 1.40"));
    CHECK_THAT(text, Contains("of the verified by position 70, 70 and 69 %"));
    CHECK_THAT(text, Contains("rounds without a draft: 5 of 105 (no_room 5)"));
    CHECK_THAT(text,
               Contains("prompts: 20 to 60 tokens, with the output at most 124; the drafter's "
                        "file names a context of 512"));
    CHECK_THAT(text, Contains("  * A draft token costs 0.31"));
    const ordered_json json = to_json(f);
    CHECK(json["draft_token"] == Approx(0.31));
    CHECK(json["scored_proposal"] == Approx(0.05));
    CHECK(json["passes_over_2_3_5_9"].size() == 4);
    CHECK(json["rounds_without_draft"]["no_room"] == 5);
    CHECK(json["longest_sequence"] == 124);
    CHECK(json["drafter_longest_context"] == 512);
    REQUIRE(json["causes"].size() == 1);
    CHECK(json["causes"][0]["cause"] == "drafter");
    CHECK(json["causes"][0]["limits"] == diagnose(f).front().limits);
}

} // namespace diagnosis_tests
