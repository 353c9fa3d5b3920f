// SPDX-License-Identifier: MIT
#include <specdec/speculation/drafting_settings.hpp>

#include <cstddef>
#include <limits>

#include <catch2/catch.hpp>

using namespace specdec;
using Catch::Contains;

TEST_CASE("thresholds that no chance can meet are refused where the kind reads them") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const length_kind kind :
         {length_kind::confidence, length_kind::entropy, length_kind::predicted}) {
        for (const double threshold : {nan, -0.1, 1.1})
            CHECK_THROWS_WITH(
                drafting_settings({.lengths = {.kind = kind, .threshold = threshold}}, rule::tli),
                Contains("lengths: threshold: expected a number from 0 to 1"));
        for (const double threshold : {0.0, 1.0})
            CHECK(drafting_settings({.lengths = {.kind = kind, .threshold = threshold}}, rule::tli)
                      .lengths.threshold == threshold);
    }
    CHECK_NOTHROW(
        drafting_settings({.lengths = {.kind = length_kind::fixed, .threshold = nan}}, rule::tli));
}

TEST_CASE("a temperature that is none is refused before anything is learnt by it") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_WITH(drafting_settings({.sampling = {.temperature = nan}}, rule::tli),
                      Contains("sampling parameters: temperature"));
}

TEST_CASE("what texts taught is kept by their kind, of the kinds that were asked for last") {
    learned_by_settings learned;
    const auto of = [&](std::size_t length) -> auto& {
        return learned.of({rule::tli, 1.0F, length_kind::fixed, length, false, false, false});
    };
    for (std::size_t n = 0; n < learned_by_settings::most; ++n)
        of(n) = learnt_nothing(static_cast<double>(n));
    const auto first = of(0);
    CHECK(of(learned_by_settings::most) == nullptr); // in place of that of 1
    CHECK(of(0) == first);
    CHECK(of(2) != nullptr);
    CHECK(of(1) == nullptr);
    learned.clear();
    CHECK(of(0) == nullptr);
}

TEST_CASE("drafts for which no memory would be left are refused") {
    const auto of_length = [](std::size_t n) {
        return drafting_settings({.lengths = {.length = n}}, rule::tli).lengths.length;
    };
    CHECK(of_length(1024) == 1024);
    for (const std::size_t n : {std::size_t{1025}, std::size_t(-1)})
        CHECK_THROWS_WITH(of_length(n), Contains("lengths: length: expected at most 1024"));
}
