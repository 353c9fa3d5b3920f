// SPDX-License-Identifier: MIT
#include <specdec/draft/profitable_length.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/stop_rule.hpp>

using namespace specdec;

namespace {

/// A drafter whose tokens are kept with one chance, and what a rule makes of it.
struct world {
    cost_table costs;
    double chance;
    std::uint64_t state = 1;
    double spent = 0, tokens = 0;
    double missed = 0; ///< tokens that the drafter has to be fed before it drafts
    double again = 0;  ///< tokens that the target has to be fed again with its next pass
    std::size_t drafts = 0, longest = 0;

    double uniform() {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state >> 11) * 0x1p-53;
    }
    template <class Rule>
    void round(Rule& rule, std::size_t most = 100) {
        std::vector<draft_progress> steps;
        draft_progress now;
        while (steps.size() < most && rule.more(now)) {
            now = extend_progress(now, rule, draft_id{0}, chance, chance, 0);
            steps.push_back(now);
        }
        draft_outcome o{.steps = steps, .forwards = steps.size(), .proposed = steps.size()};
        while (o.kept < steps.size() && uniform() < chance)
            ++o.kept;
        o.rejected = o.kept < steps.size();
        o.emitted = o.kept + 1;
        const auto n = static_cast<double>(steps.size());
        spent += costs.pass_over(1 + n) + costs.draft * n;
        spent += steps.empty() ? 0 : costs.catch_up * missed;
        missed = steps.empty() ? missed + static_cast<double>(o.emitted) : 0;
        spent += costs.replay * again + (again > 8 ? costs.pass_over(1) : 0);
        again = o.rejected && costs.replay > 0
                    ? (again > 8 ? 0 : again) + static_cast<double>(o.emitted)
                    : 0;
        tokens += static_cast<double>(o.emitted);
        drafts += steps.empty() ? 0U : 1U;
        longest = steps.size() > longest ? steps.size() : longest;
        rule.learn(o);
    }
    /// A text by a copy of the rule, as programs pass it from text to text. Returns the passes that
    /// it took more than plain decoding.
    template <class Rule>
    double text(Rule& rule, std::size_t prompt, std::size_t most) {
        const double before = spent - tokens, end = tokens + static_cast<double>(most);
        rule.start(prompt);
        missed = static_cast<double>(prompt);
        while (tokens < end)
            round(rule, static_cast<std::size_t>(end - tokens) - 1);
        return spent - tokens - before;
    }
    [[nodiscard]] double rate() const { return tokens / spent; }
};

/// Tokens a unit of cost with drafts of one length.
double rate_of(const cost_table& costs, double chance, std::size_t length) {
    double tokens = 1, reached = 1;
    for (std::size_t i = 0; i < length; ++i)
        tokens += reached *= chance;
    const auto n = static_cast<double>(length);
    return tokens / (costs.pass_over(1 + n) + costs.draft * n);
}

const cost_table steep{.pass = {1, 1.9, 2.8}, .draft = 0.5, .catch_up = 0.005};
const cost_table cheap{.pass = {1, 1.1, 1.2}, .draft = 0.1, .catch_up = 0.01};
const cost_table stairs{.pass = {1, 1.5, 1.5, 1.5, 1.5, 2.5}, .draft = 0.05, .catch_up = 0.01};

struct learner {
    static constexpr rule_traits traits{.learn = true};
};

} // namespace

TEST_CASE("profitable_length comes near the best fixed length, whatever it is") {
    for (const cost_table& costs : {cheap, stairs, steep})
        for (const double chance : {0.3, 0.5, 0.7, 0.9}) {
            CAPTURE(costs.draft, chance);
            double best = 0;
            for (std::size_t n = 0; n <= 16; ++n)
                best = std::max(best, rate_of(costs, chance, n));
            acceptance_table table;
            profitable_length rule(table, costs);
            world w{costs, chance};
            for (int i = 0; i < 300; ++i) // learns
                w.round(rule);
            w.spent = w.tokens = 0;
            for (int i = 0; i < 3000; ++i)
                w.round(rule);
            CHECK(w.rate() > 0.97 * best);
        }
}

TEST_CASE("a probe costs the forwards that a draft token takes") {
    const auto probes = [](std::size_t forwards) {
        acceptance_table table;
        profitable_length rule(table, cheap);
        std::size_t n = 0;
        for (int i = 0; i < 20000; ++i) {
            const draft_progress first{.drafted = 1};
            if (rule.more({})) {
                rule.learn({.steps = {&first, 1},
                            .rejected = true,
                            .forwards = forwards,
                            .proposed = 1,
                            .emitted = 1});
                ++n;
            } else {
                rule.learn({.emitted = 1});
            }
        }
        return static_cast<double>(n);
    };
    CHECK(probes(1) > 10);
    CHECK(probes(8) < 0.75 * probes(1));
}

TEST_CASE("profitable_length counts what rejections make the target be fed again") {
    cost_table costs = cheap;
    costs.replay = 0.1;
    for (const double chance : {0.5, 0.7, 0.9}) {
        CAPTURE(chance);
        double best = 0;
        for (std::size_t n = 0; n <= 16; ++n) {
            fixed_length rule{n};
            struct : learner { // learns nothing
                fixed_length& length;
                bool more(const draft_progress& now) const { return length.more(now); }
                law_version version() const { return 0; }
                void learn(const draft_outcome&) {}
            } fixed{{}, rule};
            world w{costs, chance};
            for (int i = 0; i < 4000; ++i)
                w.round(fixed);
            best = std::max(best, w.rate());
        }
        const auto rate = [&](const cost_table& told) {
            acceptance_table table;
            profitable_length rule(table, told);
            world w{costs, chance};
            for (int i = 0; i < 300; ++i)
                w.round(rule);
            w.spent = w.tokens = 0;
            for (int i = 0; i < 4000; ++i)
                w.round(rule);
            return w.rate();
        };
        CHECK(rate(costs) > 0.96 * best);
    }
    costs.replay = 1; // as dear as a token of plain decoding: hardly anything pays
    acceptance_table table;
    profitable_length rule(table, costs);
    world w{costs, 0.6};
    for (int i = 0; i < 100; ++i)
        w.round(rule);
    w.spent = w.tokens = 0;
    for (int i = 0; i < 2000; ++i)
        w.round(rule);
    CHECK(w.rate() > 0.97);
    acceptance_table blind;
    cost_table untold = costs;
    untold.replay = 0;
    profitable_length loses(blind, untold);
    world v{costs, 0.6};
    for (int i = 0; i < 2000; ++i)
        v.round(loses);
    CHECK(v.rate() < 0.9);
}

TEST_CASE("where drafting loses, finding out costs no more than was allowed") {
    acceptance_table table;
    profitable_length rule(table, steep);
    rule.start(10);
    world w{steep, 0.2};
    for (int i = 0; i < 50; ++i)
        w.round(rule);
    w.spent = w.tokens = 0;
    w.drafts = 0;
    for (int i = 0; i < 2000; ++i)
        w.round(rule);
    CHECK(w.rate() > 0.985);
    CHECK(w.drafts > 0); // at most 3 in a hundred
    CHECK(w.drafts < 60);
}

TEST_CASE("where drafting is far from paying, it is looked at less often than where it is near") {
    const auto probes = [](double chance) {
        acceptance_table table;
        const cost_table costs{.pass = {1, 1.7, 2.4}, .draft = 0.1, .catch_up = 0.001};
        profitable_length rule(table, costs);
        world w{costs, chance};
        for (int i = 0; i < 4000; ++i)
            w.round(rule);
        return w.drafts;
    };
    CHECK(3 * probes(0.02) < 2 * probes(0.6));
}

TEST_CASE("short texts lose little where drafting never pays") {
    const cost_table small{.pass = {1, 1.7, 2.2, 2.8, 3.3}, .draft = 0.3, .catch_up = 0.04};
    const cost_table even{.pass = {1, 1.3, 1.6, 2}, .draft = 0.25, .catch_up = 0.03};
    struct pair {
        const cost_table& costs;
        double chance;
    };
    for (const pair& two : {pair{steep, 0}, pair{steep, 0.4}, pair{small, 0.2}, pair{small, 0.6},
                            pair{even, 0.1}, pair{even, 0.4}, pair{cheap, 0}, pair{cheap, 0.1}})
        for (const std::size_t prompt : {5U, 60U})
            for (const std::size_t length : {16U, 64U}) {
                CAPTURE(two.costs.draft, two.chance, prompt, length);
                acceptance_table table;
                profitable_length rule(table, two.costs);
                world w{two.costs, two.chance};
                double first = 0, others = 0;
                constexpr std::size_t texts = 60;
                for (std::size_t i = 0; i < texts; ++i)
                    (i == 0 ? first : others) += w.text(rule, prompt, length);
                CHECK(first < 5);
                CHECK(others < 0.03 * static_cast<double>((texts - 1) * length));
            }
}

TEST_CASE("a drafter is fed a long prompt where that pays in the text, sooner the more it gains") {
    const auto rounds_before_the_first_draft = [](double chance, std::size_t prompt) {
        acceptance_table table;
        profitable_length rule(table, cheap, {.probing = 0});
        rule.start(5);
        world learns{cheap, chance};
        for (int i = 0; i < 400; ++i)
            learns.round(rule);
        world w{cheap, chance};
        rule.start(prompt);
        int rounds = 0;
        for (; w.drafts == 0 && rounds < 4000; ++rounds)
            w.round(rule);
        return rounds - 1;
    };
    CHECK(rounds_before_the_first_draft(0.9, 60) == 0);
    CHECK(rounds_before_the_first_draft(0.5, 60) == 0);
    const int much = rounds_before_the_first_draft(0.9, 10000),
              little = rounds_before_the_first_draft(0.5, 10000);
    CHECK(much > 0);
    CHECK(much < little);
    CHECK(little < 4000);
}

TEST_CASE(
    "a drafter that is too dear to be fed what it missed is tried at the next text's beginning") {
    acceptance_table table;
    cost_table costs = steep;
    costs.catch_up = 0.05; // more a token than may go into probes
    profitable_length rule(table, costs);
    rule.start(10);
    world w{costs, 0.2};
    for (int i = 0; i < 1000; ++i)
        w.round(rule);
    w.drafts = 0;
    for (int i = 0; i < 1000; ++i)
        w.round(rule);
    CHECK(w.drafts == 0);
    rule.start(10);
    for (int i = 0; i < 10; ++i)
        w.round(rule);
    CHECK(w.drafts == 1);
}

TEST_CASE("a drafter that got better is used again, one that got worse no more") {
    acceptance_table table;
    cost_table large = cheap; // as of a target of 135 million parameters: feeding costs nothing
    large.catch_up = 0.001;
    profitable_length rule(table, large);
    world w{large, 0.02};
    for (int i = 0; i < 500; ++i)
        w.round(rule);
    const auto drafts_of_100 = [&] {
        const std::size_t before = w.drafts;
        for (int i = 0; i < 100; ++i)
            w.round(rule);
        return w.drafts - before;
    };
    CHECK(drafts_of_100() < 20);
    w.chance = 0.9;
    for (int i = 0; i < 2000; ++i)
        w.round(rule);
    CHECK(drafts_of_100() > 95);
    w.chance = 0.02;
    for (int i = 0; i < 500; ++i)
        w.round(rule);
    CHECK(drafts_of_100() < 20);
}

TEST_CASE("a position of a pass that texts share costs its share") {
    acceptance_table table;
    const cost_table flat{.pass = {1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8}, .draft = 0.01};
    profitable_length alone(table, flat), together(table, flat);
    together.share_pass(4); // four texts fill what costs nothing
    world one{flat, 0.5}, four{flat, 0.5};
    for (int i = 0; i < 200; ++i)
        one.round(alone);
    CHECK(one.longest == 3);
    CHECK(alone.more({}));
    CHECK(together.rate() >= 4);
    draft_progress now;
    CHECK_FALSE(together.more(now));
}

TEST_CASE("in a plan a text drafts while a position is worth what it adds to the pass") {
    acceptance_table table;
    const cost_table costs{.pass = {1, 1, 1, 1, 1, 1, 3, 5, 7}, .draft = 0.01};
    profitable_length rule(table, costs);
    pass_share share(3);
    share.planned = true;
    share.others = 2;
    share.rate = 4;
    rule.share_pass(share); // of six positions that cost nothing three are left for drafts
    CHECK(rule.rate() == 4);
    world w{costs, 0.7};
    for (int i = 0; i < 100; ++i)
        w.round(rule);
    CHECK(w.longest == 3);
    share.others = 4;
    rule.share_pass(share);
    w.longest = 0;
    for (int i = 0; i < 100; ++i)
        w.round(rule);
    CHECK(w.longest == 1);
    share.rate = 0.1; // less than without drafts
    rule.share_pass(share);
    CHECK(rule.rate() == Approx(3));
}

TEST_CASE(
    "a text that has no part in a plan drafts nothing, and tries one token where it could pay") {
    const auto drafts_of = [](const cost_table& costs) {
        acceptance_table table;
        profitable_length rule(table, costs);
        pass_share share(4);
        share.planned = true;
        share.drafts = false;
        share.others = 3;
        share.rate = 4 / costs.pass_over(4);
        rule.share_pass(share);
        world w{costs, 0.9};
        for (int i = 0; i < 4000; ++i)
            w.round(rule);
        CHECK(w.longest <= 1);
        return w.drafts;
    };
    const cost_table near{.pass = {1, 1.1, 1.2, 1.3, 1.5, 1.7, 1.9}, .draft = 0.05};
    const cost_table full{.pass = {1, 2, 3, 4, 5, 6, 7}, .draft = 0.05};
    CHECK(drafts_of(near) > 4);
    CHECK(drafts_of(near) < 200);
    CHECK(drafts_of(full) == 0);
}

TEST_CASE("texts that ask one table expect what became of their own first tokens") {
    acceptance_table table;
    profitable_length good(table, cheap), bad(table, cheap);
    const std::vector<draft_progress> first{{.drafted = 1, .sure = 0.5}};
    for (int i = 0; i < 50; ++i) {
        good.learn({.steps = first, .kept = 1, .forwards = 1, .proposed = 1, .emitted = 2});
        bad.learn({.steps = first, .rejected = true, .forwards = 1, .proposed = 1});
    }
    const draft_offer one = good.offer(), other = bad.offer();
    REQUIRE(one.tokens == draft_offer::most);
    CHECK(one.costs != nullptr);
    CHECK(one.draft == Approx(cheap.draft));
    CHECK(one.width == Approx(1));
    CHECK(one.worth[0] > 0.8);
    CHECK(other.worth[0] < 0.2);
    CHECK(one.worth[1] < one.worth[0]);
    good.start(1); // another text
    CHECK(good.offer().worth[0] == Approx(table.next({})));
    good.follow(cheap, false);
    CHECK(good.offer().tokens == 0);
}

TEST_CASE("where costs follow the rounds, a few of them show what others do not, at little cost") {
    for (const double chance : {0.5, 0.9}) {
        acceptance_table table;
        profitable_length rule(table, cheap);
        world w{cheap, chance}, alone{cheap, chance};
        std::size_t plain = 0;
        for (int i = 0; i < 4000; ++i) {
            rule.follow(cheap, true);
            const std::size_t before = w.drafts;
            if (i == 1000) // it is learnt
                w.longest = 0;
            w.round(rule);
            plain += w.drafts == before ? 1U : 0U;
        }
        CHECK(plain > 10);
        CHECK(plain < 100);
        acceptance_table other;
        profitable_length silent(other, cheap);
        for (int i = 0; i < 4000; ++i) {
            if (i == 1000)
                alone.longest = 0;
            alone.round(silent);
        }
        CHECK((w.longest > alone.longest || w.longest == 16));
        CHECK(w.rate() > 0.98 * alone.rate());
    }
}

TEST_CASE("a rule that may not draft does not, until it may again") {
    acceptance_table table;
    profitable_length rule(table, cheap);
    world w{cheap, 0.9};
    for (int i = 0; i < 200; ++i) {
        rule.follow(cheap, false);
        w.round(rule);
    }
    CHECK(w.drafts == 0);
    const law_version before = rule.version();
    rule.follow(cheap, true);
    CHECK(rule.version() != before);
    w.round(rule);
    CHECK(w.drafts == 1);
}

TEST_CASE("what beginning a draft costs has to be gained, too") {
    cost_table slow = cheap;
    slow.start = 0.9;
    acceptance_table table;
    profitable_length rule(table, slow);
    world w{slow, 0.5};
    for (int i = 0; i < 1000; ++i)
        w.round(rule);
    CHECK(w.drafts < 50);
}
