// SPDX-License-Identifier: MIT
#include <specdec/draft/any_predictor.hpp>

#include <catch2/catch.hpp>

#include <specdec/draft/length_rule.hpp>

using namespace specdec;

namespace any_predictor_tests {

struct by_place {
    std::size_t taught = 0;
    [[nodiscard]] row_reading reads() const { return row_reading::entropy; }
    [[nodiscard]] law_mark mark() const { return taught; }
    [[nodiscard]] double accept(const draft_progress& now) const {
        return 1 / static_cast<double>(now.drafted);
    }
    [[nodiscard]] double next(const draft_progress& now) const {
        return taught > 0 ? 0.25 : accept({.drafted = now.drafted + 1});
    }
    void learn(const draft_outcome&) { ++taught; }
};
struct always {
    [[nodiscard]] law_mark mark() const { return 0; }
    [[nodiscard]] double accept(const draft_progress&) const { return 1; }
    [[nodiscard]] double next(const draft_progress&) const { return 1; }
};

TEST_CASE("any predictor answers and learns as the one it views") {
    by_place own;
    any_predictor any(own);
    CHECK(reading_of(any) == row_reading::entropy);
    CHECK(any.accept({.drafted = 2}) == 0.5);
    CHECK(any.next({.drafted = 1}) == 0.5);
    any.learn({});
    CHECK(own.taught == 1);
    CHECK(any.next({.drafted = 1}) == 0.25);
    const any_predictor copy = any; // a view of the same
    CHECK(copy.next({}) == 0.25);

    always sure;
    any_predictor unmoved(sure);
    unmoved.learn({});
    CHECK(unmoved.next({}) == 1);
    CHECK(reading_of(unmoved) == row_reading::sureness);
}

TEST_CASE("length rules go by any predictor") {
    by_place own;
    any_predictor any(own);
    length_rule ends(predicted_end(any, 0.6, 9));
    CHECK(ends.reads() == row_reading::entropy);
    const draft_progress one = extend_progress({}, ends, draft_id{0}, 1, 1, 0);
    const draft_progress two = extend_progress(one, ends, draft_id{0}, 1, 1, 0);
    const draft_progress three = extend_progress(two, ends, draft_id{0}, 1, 1, 0);
    CHECK(ends.more(two)); // 1 - 1 * 1/2
    CHECK_FALSE(ends.more(three));
    ends.learn({});
    CHECK(own.taught == 1);

    const cost_table costs{{1, 1, 1, 1}, 0.05, 0};
    length_rule pays(cost_aware(any, costs, {.longest = 4}));
    pays.start(10, 1);
    CHECK(pays.more({})); // 0.25 of a token for 0.05 of a pass
    pays.learn({});
    CHECK(own.taught == 2);
}

} // namespace any_predictor_tests
