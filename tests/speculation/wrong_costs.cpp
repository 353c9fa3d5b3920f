// SPDX-License-Identifier: MIT
// What becomes of a text whose costs were measured unluckily: a simulated engine whose clock is a
// sum of what its rounds cost.
#include <specdec/speculation/text_lengths.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "support/simulated_clock.hpp"

using namespace specdec;

namespace wrong_costs_tests {

/// What rounds of an engine take, in its passes over one position, and what its target keeps.
struct engine {
    std::vector<double> pass;
    double draft, feed; ///< a draft token; each token that the drafter missed
    double begin;       ///< what a draft takes beside its tokens
    double beside;      ///< what any round takes beside the pass
    double chance;      ///< of draft tokens that are kept, on average

    [[nodiscard]] cost_table truth() const {
        return {.pass = pass, .draft = draft, .catch_up = feed};
    }
    /// All there is to know, in rounds that draft nothing.
    [[nodiscard]] cost_table all() const {
        cost_table costs{.pass = pass,
                         .draft = draft / (1 + beside),
                         .catch_up = feed / (1 + beside),
                         .start = begin / (1 + beside)};
        for (double& p : costs.pass)
            p = (p + beside) / (1 + beside);
        return costs;
    }
};

/// A text after another under automatic lengths.
class simulation {
public:
    simulation(const engine& what, const cost_table& told, bool given = false,
               std::uint64_t seed = 1)
        : engine_(what), truth_(what.truth()), clock_(seed) {
        learned_.go_by(told, !given);
        if (given)
            settings_.costs = told;
    }

    /// A text of so many tokens. Returns the seconds it took, less its prompt's.
    double text(std::size_t tokens) {
        text_lengths text(settings_, 8, learned_, 20, 1);
        missed_ = 20;
        const double before = seconds_;
        for (std::size_t made = 0, r = 0; made < tokens; ++r)
            made += round(text, r == 0);
        text.end();
        return seconds_ - before;
    }
    /// What a token of plain decoding takes.
    [[nodiscard]] double plain() const {
        return clock_.pass_seconds * (engine_.pass[0] + engine_.beside);
    }

private:
    std::size_t round(text_lengths& text, bool first) {
        text.begin_draft_round();
        std::vector<draft_progress> steps;
        draft_progress now;
        std::size_t kept = 0;
        bool rejected = false;
        while (text.rule().more(now)) {
            const double u = clock_.uniform(); // sure of some, unsure of others
            const double sure = u < 0.5 ? engine_.chance * 0.7 : engine_.chance * 1.3;
            const double chance = sure < 0.97 ? sure : 0.97;
            now = extend_progress(now, text.rule(), draft_id{0}, chance, chance, 0);
            steps.push_back(now);
            if (!rejected && clock_.uniform() < chance)
                ++kept;
            else
                rejected = true;
        }
        const std::size_t n = steps.size();
        const auto drafts = static_cast<double>(n);
        round_seconds spent{clock_.took(truth_.pass_over(1 + drafts)), 0};
        double rest = engine_.beside;
        if (n > 0)
            rest += engine_.begin + engine_.draft * drafts + engine_.feed * missed_;
        spent.rest = clock_.took(rest);
        seconds_ +=
            clock_.pass_seconds * (truth_.pass_over(1 + drafts) + rest); // as if undisturbed
        if (first)
            spent.pass += clock_.pass_seconds * 5; // its prompt
        missed_ = n > 0 ? 0 : missed_ + static_cast<double>(kept + 1);
        text.learn({.steps = steps,
                    .kept = kept,
                    .rejected = rejected,
                    .forwards = n,
                    .proposed = n,
                    .emitted = kept + 1},
                   spent);
        return kept + 1;
    }

    engine engine_;
    cost_table truth_;
    length_settings settings_{};
    learned_lengths learned_{.table = acceptance_table(0.6)};
    specdec::testing::simulated_clock clock_;
    double seconds_ = 0, missed_ = 0;
};

/// Told of as an unlucky measurement says: draft tokens at `draft` of what they cost, passes over
/// several positions at `passes`, one over `place` positions at `one`.
cost_table mistaken(const engine& e, double draft, double passes, std::size_t place = 0,
                    double one = 1) {
    cost_table told = e.truth();
    told.draft *= draft;
    for (std::size_t i = 1; i < told.pass.size(); ++i)
        told.pass[i] *= (i + 1 == place ? one : 1) * passes;
    for (std::size_t i = 1; i < told.pass.size(); ++i) // as measure_costs has it
        told.pass[i] = std::max(told.pass[i], told.pass[i - 1]);
    return told;
}

/// Beside plain decoding, of eight runs: eight texts of 100 tokens; one of 400; 2,000 behind it.
struct speeds {
    double short_texts = 0, text = 0, later = 0;
};
speeds speeds_of(const engine& e, const cost_table& told, bool given = false) {
    double short_texts = 0, text = 0, later = 0, plain = 0;
    constexpr std::uint64_t runs = 8;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        simulation many(e, told, given, seed), one(e, told, given, 100 + seed);
        for (int i = 0; i < 8; ++i)
            short_texts += many.text(100);
        text += one.text(400);
        (void)one.text(400);
        for (int i = 0; i < 10; ++i)
            later += one.text(200);
        plain += one.plain();
    }
    return {800 * plain / short_texts, 400 * plain / text, 2000 * plain / later};
}

/// A target of 135 million parameters on two cores, one of 15 million, whose draft tokens and
/// positions are dear, one that scores four positions for the price of two, and one whose drafts
/// never pay.
engine large(double chance) {
    return {{1, 1.22, 1.36, 1.5, 1.65, 1.9, 2.1, 2.3, 2.5}, 0.12, 0.002, 0, 0.02, chance};
}
engine small(double chance) {
    return {{1, 1.75, 2.2, 2.6, 3, 3.5, 3.9, 4.3, 4.7}, 0.36, 0.04, 0, 0.1, chance};
}
engine stairs(double chance) {
    return {{1, 1.3, 1.32, 1.34, 1.8, 1.82, 1.84, 1.86, 2.3}, 0.1, 0.002, 0.1, 0.05, chance};
}

engine dear(double chance) {
    return {{1, 2.5, 4, 5.5, 7, 8.5, 10, 11.5, 13}, 1.5, 0.1, 0.3, 0.1, chance};
}

struct mistake {
    double draft, passes;
    std::size_t place;
    double one;
};
constexpr mistake mistakes[] = {
    {1, 1, 0, 1},   {0.5, 1, 0, 1}, {2, 1, 0, 1},   {1, 0.8, 0, 1},   {1, 1.2, 0, 1},
    {1, 1, 2, 1.2}, {1, 1, 4, 0.8}, {1, 1, 4, 1.2}, {0.5, 0.8, 0, 1}, {2, 1.2, 0, 1},
};

/// By a machine that did something else all the while.
constexpr mistake far_off[] = {{10, 1, 0, 1}, {20, 1, 0, 1}, {1, 2, 0, 1}};

} // namespace wrong_costs_tests

using namespace wrong_costs_tests;

TEST_CASE("where drafting pays, texts come to the speed of right costs, whatever was measured",
          "[computes]") {
    for (const engine& e : {large(0.6), large(0.75), stairs(0.6), stairs(0.75)}) {
        const speeds right = speeds_of(e, e.all(), true); // nothing is corrected
        for (const mistake& m : mistakes) {
            CAPTURE(e.pass, e.chance, m.draft, m.passes, m.place, m.one);
            const speeds now = speeds_of(e, mistaken(e, m.draft, m.passes, m.place, m.one));
            CHECK(now.later > 0.95 * right.later);
            CHECK(now.short_texts > 0.92 * right.short_texts);
            CHECK(now.text > 0.92 * right.text);
        }
    }
}

TEST_CASE("where drafting pays, it is found out though it was measured far too dear",
          "[computes]") {
    for (const engine& e : {large(0.6), large(0.75), stairs(0.6), stairs(0.75)}) {
        const speeds right = speeds_of(e, e.all(), true);
        for (const mistake& m : far_off) {
            CAPTURE(e.pass, e.chance, m.draft, m.passes);
            CHECK(speeds_of(e, mistaken(e, m.draft, m.passes)).later > 0.93 * right.later);
        }
    }
}

TEST_CASE("where drafting loses, it takes little, whatever was measured", "[computes]") {
    for (const engine& e : {large(0.1), large(0.3), small(0.1), small(0.4), small(0.7), stairs(0.1),
                            stairs(0.3), dear(0.3), dear(0.95)})
        for (const mistake& m : mistakes) {
            CAPTURE(e.pass, e.chance, m.draft, m.passes, m.place, m.one);
            const speeds now = speeds_of(e, mistaken(e, m.draft, m.passes, m.place, m.one));
            CHECK(now.later > 0.98);
            CHECK(now.short_texts > 0.97);
            CHECK(now.text > 0.96);
        }
}
