// SPDX-License-Identifier: MIT
// Draft lengths that are learnt from the rounds before change no law.
#include <specdec/draft/profitable_length.hpp>

#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/outcome_of.hpp>
#include <specdec/draft/length_rule.hpp>
#include <specdec/draft/shared_rows.hpp>
#include <specdec/verify/block_verification.hpp>

#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// Learns fast, so that three rounds make a difference: expects of a token what became of the last
/// one, and that it is kept as often as the drafter was sure.
struct last_outcome {
    static constexpr rule_traits traits{.learn = true};
    double kept = 0.6;
    [[nodiscard]] law_version version() const { return version_of_values(kept); }
    [[nodiscard]] double accept(const draft_progress& now) const { return kept * now.sure; }
    [[nodiscard]] double next(const draft_progress& now) const { return kept * now.sure; }
    void learn(const draft_outcome& o) { kept = o.steps.empty() || o.rejected ? 0.3 : 0.9; }
};

/// Rounds of a rule that learns, with partial commits: the law of the text, and the lengths there
/// were. How many texts share the pass changes from round to round, with what was committed.
template <class WithBridge, class Rule, class MakeStop>
double deviation_of_lengths(const WithBridge& with_bridge, const Rule& rule,
                            const sampling_parameters& draft, const MakeStop& make_stop,
                            std::vector<std::size_t>& lengths) {
    const toy_words& two = twofold_words();
    row_tree p(toy_rows(row_kind::random, 3, 51)), q(toy_rows(row_kind::random, 2, 52));
    const scenario text_of_three{.length = 3, .draft = draft, .max_proposals = 2};
    last_outcome predictor;
    std::optional<decltype(make_stop(predictor))> stop; // anew for each path
    const auto round = [&](auto& text, std::size_t i) {
        if (i == 0) {
            predictor = {};
            stop.emplace(make_stop(predictor));
        }
        if constexpr (requires { stop->share_pass(1); })
            stop->share_pass(text.decoder.tokens().back().value == 0 ? 1 : 3);
        const round_result r = text.round(*stop, 4 - text.decoder.tokens().size());
        ++lengths[r.proposed.size()];
        stop->learn(outcome_of(r, two.target, two.draft));
        // What is discarded has been learnt from, too.
        text.decoder.commit(r.tokens[0].value == 0 ? 1 : r.tokens.size());
    };
    return play(toy_models{p, q}, with_bridge, rule, rounds_by{text_of_three, round}).deviation();
}

/// Shares its pass with a text that needs the position more, or less, as the last token says: some
/// plans leave it no draft, some a token or two. The plan is made before anything is drawn.
template <class Predictor>
class rows_of_a_plan {
public:
    static constexpr rule_traits traits{.reads = true, .predict = true, .learn = true};
    rows_of_a_plan(Predictor& predictor, const cost_table& costs)
        : costs_(&costs), length_(predictor, costs, {.longest = 2}) {}

    [[nodiscard]] row_reading reads() const { return length_.reads(); }
    [[nodiscard]] bool more(const draft_progress& now) const { return length_.more(now); }
    [[nodiscard]] double predict(const draft_progress& now) const { return length_.predict(now); }
    [[nodiscard]] law_version version() const { return length_.version(); }
    void learn(const draft_outcome& o) { length_.learn(o); }
    void share_pass(std::size_t last) {
        const draft_offer other{
            .costs = costs_, .worth = {last == 1 ? 0.95 : 0.1}, .tokens = 1, .width = 1};
        shared_rows plan(2);
        plan.add(length_.offer());
        plan.add(other);
        plan.decide();
        length_.share_pass(plan.share(0));
    }

private:
    const cost_table* costs_;
    profitable_length<Predictor> length_;
};

/// Two positions cost nothing more, and a third little, before they are dear.
const cost_table of_a_plan{.pass = {1, 1, 1.01, 1.15, 2}, .draft = 0.01};

const cost_table cheap{.pass = {1, 1.2, 1.4}, .draft = 0.1, .catch_up = 0};

template <class WithBridge, class Rule>
void check_lengths(const WithBridge& with_bridge, const Rule& rule) {
    for (const sampling_parameters& draft :
         {sampling_parameters{}, sampling_parameters{.temperature = 0}}) {
        std::vector<std::size_t> lengths(3);
        CHECK(deviation_of_lengths(
                  with_bridge, rule, draft,
                  [](last_outcome& a) { return profitable_length(a, cheap, {.longest = 2}); },
                  lengths) < 1e-12);
        CHECK(deviation_of_lengths(
                  with_bridge, rule, draft,
                  [](last_outcome& a) { return predicted_end(a, 0.6, 2); }, lengths) < 1e-12);
        CHECK(lengths[1] > 0); // the rules did choose
        CHECK(lengths[2] > 0);
        lengths.assign(3, 0);
        CHECK(deviation_of_lengths(
                  with_bridge, rule, draft,
                  [](last_outcome& a) { return rows_of_a_plan(a, of_a_plan); }, lengths) < 1e-12);
        CHECK(lengths[0] > 0); // the plan did
        CHECK(lengths[1] + lengths[2] > 0);
    }
}

} // namespace

TEST_CASE("lengths that are learnt keep the target's law: tli", "[law]") {
    check_lengths(twofold_words().tli(), by_rejection);
    check_lengths(twofold_words().tli(), by_block);
}

TEST_CASE("lengths that are learnt keep the target's law: slem, slrs", "[law]") {
    check_lengths(twofold_words().slem(), by_match);
    check_lengths(twofold_words().slrs(0), by_rejection);
}
