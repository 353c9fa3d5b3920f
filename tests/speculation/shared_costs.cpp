// SPDX-License-Identifier: MIT
// What drafts gain in a batch, whose texts come and go: a simulated engine whose clock is a sum of
// what its rounds cost, and a plan of each pass.
#include <specdec/speculation/text_lengths.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/shared_rows.hpp>

#include "support/simulated_clock.hpp"

using namespace specdec;

namespace shared_costs_tests {

/// In passes of the target over one position.
struct engine {
    std::vector<double> pass;
    double draft, beside;        ///< a pass of the drafter alone; any round beside the pass
    std::vector<double> chances; ///< of texts: how often their draft tokens are kept

    [[nodiscard]] cost_table costs() const {
        return {.pass = pass, .draft = draft, .catch_up = 0.0005};
    }
};

/// So many texts at a time, each of which another one follows.
class simulation {
public:
    simulation(const engine& what, const cost_table& told, std::size_t texts, std::uint64_t seed)
        : engine_(what), truth_(what.costs()), clock_(seed), plan_(texts), seats_(texts) {
        learned_.go_by(told, true);
        for (std::size_t i = 0; i < texts; ++i) {
            seats_[i].chance = what.chances[i % what.chances.size()];
            begin(seats_[i]);
        }
    }

    /// Tokens for the time, beside plain decoding of as many texts.
    double speed(std::size_t tokens) {
        double seconds = 0;
        std::size_t made = 0;
        while (made < tokens) {
            seconds += round();
            for (text& x : seats_)
                made += x.kept + 1;
        }
        const auto texts = static_cast<double>(seats_.size());
        const double plain = truth_.pass_over(texts) / texts + engine_.beside;
        return plain * static_cast<double>(made) / seconds;
    }

private:
    static constexpr std::size_t length = 64;

    struct text {
        double chance = 0, missed = 0;
        std::unique_ptr<text_lengths> lengths{};
        std::size_t made = 0, kept = 0;
        bool rejected = false;
        std::vector<draft_progress> steps{};
    };

    void begin(text& x) {
        x.lengths = std::make_unique<text_lengths>(length_settings{}, 8, learned_, 20, 1);
        x.made = 0;
        x.missed = 20;
    }
    void draft(text& x) {
        x.steps.clear();
        x.kept = 0;
        x.rejected = false;
        draft_progress now;
        while (x.steps.size() + 1 < length - x.made && x.lengths->rule().more(now)) {
            const double chance = std::min(x.chance * (clock_.uniform() < 0.5 ? 0.7 : 1.3), 0.97);
            now = extend_progress(now, x.lengths->rule(), draft_id{0}, chance, chance, 0);
            x.steps.push_back(now);
            if (!x.rejected && clock_.uniform() < chance)
                ++x.kept;
            else
                x.rejected = true;
        }
    }
    /// Passes over one position that a round took.
    double round() {
        plan_.clear();
        for (text& x : seats_)
            plan_.add(x.lengths->offer());
        plan_.decide();
        std::size_t positions = 0, drafted = 0, longest = 0;
        for (std::size_t i = 0; i < seats_.size(); ++i) {
            text& x = seats_[i];
            x.lengths->share_pass(plan_.share(i));
            x.lengths->begin_draft_round();
            draft(x);
            positions += 1 + x.steps.size();
            drafted += x.steps.size();
            longest = std::max(longest, x.steps.size());
        }
        double drafting = 0; // each step a common pass of the drafter
        for (std::size_t step = 0; step < longest; ++step)
            for (std::size_t i = 0, in = 0; i < seats_.size(); ++i)
                if (seats_[i].steps.size() > step)
                    drafting += engine_.draft * (in++ == 0 ? 1 : 0.15);
        const double pass = truth_.pass_over(static_cast<double>(positions));
        const double seconds = clock_.took(pass);
        double all = pass;
        ++passes_;
        for (text& x : seats_) {
            const auto n = static_cast<double>(x.steps.size());
            const double rest = engine_.beside + (n > 0 ? truth_.catch_up * x.missed : 0) +
                                (drafted > 0 ? drafting * n / static_cast<double>(drafted) : 0);
            all += rest;
            x.missed = n > 0 ? 0 : x.missed + static_cast<double>(x.kept + 1);
            x.lengths->passed({.number = passes_, .positions = positions, .seconds = seconds});
            x.lengths->learn(
                {.steps = x.steps,
                 .kept = x.kept,
                 .rejected = x.rejected,
                 .forwards = x.steps.size(),
                 .proposed = x.steps.size(),
                 .emitted = x.kept + 1},
                {seconds * (1 + n) / static_cast<double>(positions), clock_.took(rest)});
            x.made += x.kept + 1;
            if (x.made >= length) {
                x.lengths->end();
                begin(x);
            }
        }
        return all;
    }

    engine engine_;
    cost_table truth_;
    learned_lengths learned_{.table = acceptance_table(0.6)};
    specdec::testing::simulated_clock clock_;
    shared_rows plan_;
    std::vector<text> seats_;
    std::uint64_t passes_ = 0;
};

double speed_of(const engine& e, std::size_t texts, const cost_table& told) {
    constexpr std::uint64_t runs = 4;
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= runs; ++seed)
        sum += simulation(e, told, texts, seed).speed(512 * texts);
    return sum / runs;
}
double speed_of(const engine& e, std::size_t texts) {
    return speed_of(e, texts, e.costs());
}

std::vector<double> passes(double (*cost)(std::size_t n)) {
    std::vector<double> out;
    for (std::size_t n = 1; n <= 160; ++n)
        out.push_back(cost(n));
    return out;
}
/// As of a target of 135 million parameters in 4 bits, on two cores.
engine two_cores(const std::vector<double>& chances) {
    return {
        passes([](std::size_t n) {
            const auto x = static_cast<double>(n);
            return n <= 4 ? 1 + 0.05 * (x - 1) : n <= 8 ? 1.15 + 0.09 * (x - 4) : 0.145 * x + 0.35;
        }),
        0.06, 0.02, chances};
}
/// One whose kernels work in blocks of sixteen positions.
engine blocks(const std::vector<double>& chances) {
    return {passes([](std::size_t n) {
                return 1 + 0.5 * static_cast<double>((n - 1) / 16) +
                       0.005 * static_cast<double>(n - 1);
            }),
            0.05, 0.02, chances};
}

TEST_CASE("a batch is never much slower than without drafts, however many texts there are",
          "[computes]") {
    for (const engine& e :
         {two_cores({0.3}), two_cores({0.6}), two_cores({0.75}), two_cores({0.9, 0.6, 0.3, 0.3}),
          blocks({0.3}), blocks({0.9, 0.6, 0.3, 0.3})})
        for (const std::size_t texts : {2U, 4U, 8U, 12U, 16U}) {
            CAPTURE(e.pass[15], e.chances, texts);
            CHECK(speed_of(e, texts) > 0.98);
            for (const double draft : {0.5, 2.0}) {
                cost_table told = e.costs();
                told.draft *= draft;
                for (std::size_t n = 1; n < told.pass.size(); ++n) // the shares of more positions
                    told.pass[n] = 1 + (told.pass[n] - 1) * (draft < 1 ? 0.8 : 1.2);
                CAPTURE(draft);
                CHECK(speed_of(e, texts, told) > 0.97);
            }
        }
}

TEST_CASE("where passes are full, texts draft nothing and lose nothing", "[computes]") {
    for (const engine& e : {two_cores({0.9}), blocks({0.9})})
        CHECK(speed_of(e, 16) > 0.998);
}

TEST_CASE("where a pass has room, a batch drafts, and first the texts whose drafts are kept",
          "[computes]") {
    CHECK(speed_of(two_cores({0.6}), 2) > 1.25);
    CHECK(speed_of(two_cores({0.6}), 4) > 1.03);
    CHECK(speed_of(two_cores({0.75}), 4) > 1.15);
    CHECK(speed_of(two_cores({0.9, 0.6, 0.3, 0.3}), 4) > 1.05);
    CHECK(speed_of(blocks({0.9, 0.6, 0.3, 0.3}), 8) > 1.25);
    CHECK(speed_of(blocks({0.6}), 8) > 1.3);
    CHECK(speed_of(blocks({0.9, 0.6, 0.3, 0.3}), 12) > 1.03); // four positions are left
}

} // namespace shared_costs_tests
