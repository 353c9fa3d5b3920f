// SPDX-License-Identifier: MIT
#include <specdec/core/traits.hpp>

#include <catch2/catch.hpp>

#include <specdec/core/drafting.hpp>

using namespace specdec;

namespace traits_tests {

struct silent {};
struct reads_only {
    static constexpr rule_traits traits{.reads = true};
    [[nodiscard]] row_reading reads() const { return row_reading::entropy; }
};
struct predicts_too : reads_only {
    static constexpr rule_traits traits{.reads = true, .predict = true};
    [[nodiscard]] double predict(const draft_progress& now) const { return now.last / 2; }
    [[nodiscard]] bool more(const draft_progress&) const { return true; }
    [[nodiscard]] law_version version() const { return 0; }
};
struct named_by_a_type {
    using traits = int; // of another contract
};

static_assert(traits_of<rule_traits, silent> == rule_traits{});
static_assert(traits_of<rule_traits, named_by_a_type> == rule_traits{});
static_assert(traits_of<rule_traits, reads_only> == rule_traits{.reads = true});
static_assert(traits_of<rule_traits, predicts_too> == rule_traits{.reads = true, .predict = true});

TEST_CASE("optional members that are declared are called, others are not asked for") {
    CHECK(reading_of(silent{}) == row_reading::none);
    CHECK(reading_of(reads_only{}) == row_reading::entropy);
    const draft_progress first = extend_progress({}, predicts_too{}, draft_id{1}, 0.5, 0.5, 0);
    CHECK(first.kept == 0.25);
    CHECK(extend_progress(first, predicts_too{}, draft_id{2}, 0.5, 0.5, 0).kept == 0.0625);
}

} // namespace traits_tests
