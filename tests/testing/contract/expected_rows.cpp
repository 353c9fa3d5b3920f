// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/expected_rows.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

using namespace specdec;

TEST_CASE("rows are equal bit for bit, or up to a distance of log-probabilities") {
    const std::vector<float> first{0, 1, 0, 0, 2, 0}, later{1, 2, 1, 0, 2, 0.5F};
    const logits_rows<target_id> recorded(first.data(), 2, 3, 3), seen(later.data(), 2, 3, 3);
    const auto require = [&](expected_rows& rows, std::size_t n) {
        try {
            rows.require(0, seen, n, "there");
        } catch (const clause_broken& b) {
            return b.seen;
        }
        return std::string();
    };
    expected_rows exact(0), close(0.1), wide(0.6);
    for (expected_rows* rows : {&exact, &close, &wide})
        rows->record(recorded);

    // Logits that are all one higher: the same law, but not the same row.
    CHECK(require(exact, 1).starts_with("the row of position 0, there, gives token "));
    CHECK_FALSE(exact.equal(0, seen[0].values));
    CHECK(exact.equal(1, recorded[1].values));
    CHECK(require(close, 1) == "");
    CHECK(close.equal(0, seen[0].values));
    CHECK(close.greatest_difference() < 1e-6);

    CHECK(require(close, 2) == "the row of position 1, there, gives token 2 the log-probability "
                               "-1.80636 instead of -2.23954 (0.433189 apart)");
    CHECK(close.greatest_difference() == Approx(0.433189));
    CHECK(require(wide, 2) == "");
    CHECK(wide.greatest_difference() == close.greatest_difference());
}
