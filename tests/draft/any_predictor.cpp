// SPDX-License-Identifier: MIT
#include <specdec/draft/any_predictor.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

namespace any_predictor_tests {

struct by_place {
    static constexpr rule_traits traits{.reads = true, .learn = true};
    std::size_t taught = 0;
    [[nodiscard]] row_reading reads() const { return row_reading::entropy; }
    [[nodiscard]] law_version version() const { return taught; }
    [[nodiscard]] double accept(const draft_progress& now) const {
        return 1 / static_cast<double>(now.drafted);
    }
    [[nodiscard]] double next(const draft_progress& now) const {
        return taught > 0 ? 0.25 : accept({.drafted = now.drafted + 1});
    }
    void learn(const draft_outcome&) { ++taught; }
};
struct always {
    [[nodiscard]] law_version version() const { return 0; }
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

} // namespace any_predictor_tests
