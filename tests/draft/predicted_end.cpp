// SPDX-License-Identifier: MIT
#include <specdec/draft/predicted_end.hpp>

#include <memory>

#include <catch2/catch.hpp>

#include <specdec/draft/acceptance_table.hpp>
#include <specdec/draft/profitable_length.hpp>

using namespace specdec;

namespace {
struct half {
    static constexpr rule_traits traits{.learn = true};
    int rounds = 0;
    [[nodiscard]] law_version version() const { return 0; }
    [[nodiscard]] double accept(const draft_progress&) const { return 0.5; }
    [[nodiscard]] double next(const draft_progress&) const { return 0.5; }
    void learn(const draft_outcome&) { ++rounds; }
};
} // namespace
static_assert(LearnsLengths<predicted_end<acceptance_table>>);

TEST_CASE("predicted_end drafts while 1 - prod a_i is at most its threshold") {
    half predictor;
    predicted_end stop(predictor, 0.75, 9);
    draft_progress now;
    std::size_t length = 0;
    for (; stop.more(now); ++length)
        now = extend_progress(now, stop, draft_id{0}, 1, 1, 0);
    CHECK(length == 3); // 1 - 1/4 is not above the threshold, 1 - 1/8 is
    CHECK(now.kept == 0.125);
    CHECK_FALSE(predicted_end(predictor, 1.0, 2).more({.drafted = 2}));
    stop.learn({});
    CHECK(predictor.rounds == 1);
}

TEST_CASE("rules that ask another predictor have another mark, whatever its own is") {
    const cost_table costs{{1, 1.1, 1.2}, 0.1, 0};
    acceptance_table one, other, third;
    third.learn({.steps = {}, .forwards = 1, .proposed = 1});
    const auto check = [&](auto rule) {
        const law_version first = rule.version();
        rule.ask(other);
        CHECK(rule.version() != first);
        const law_version second = rule.version();
        rule.ask(third);
        CHECK(rule.version() != second);
        rule.ask(one);
        CHECK(rule.version() != first);
        CHECK(rule.version() != second);
        auto gone = std::make_unique<acceptance_table>();
        rule.ask(*gone);
        gone.reset();
        rule.ask(one); // asks nothing of what is gone
    };
    check(predicted_end(one, 0.75, 9));
    check(profitable_length(one, costs));
}
