// SPDX-License-Identifier: MIT
#include <specdec/core/require.hpp>

#include <span>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("rows of the asked shape pass, others are refused by name") {
    const std::vector<float> memory(12);
    const logits_rows<target_id> rows(memory.data(), 3, 2, 4);
    CHECK_NOTHROW(require_rows(rows, 3, 2, "session"));
    CHECK_THROWS_WITH(require_rows(rows, 4, 2, "session"),
                      "session: target's rows: expected 4, one for each token, found 3");
    CHECK_THROWS_WITH(require_rows(rows, 3, 4, "session"),
                      "session: target's rows: expected 4 logits each, one for each id of the "
                      "vocabulary, found 2");
    CHECK_THROWS_WITH(require_rows(logits_rows<draft_id>{}, 1, 4, "model drafter"),
                      "model drafter: drafter's rows: expected 1, one for each token, found 0");
}

TEST_CASE("ids of a vocabulary pass, others are refused by name") {
    const std::vector ids{draft_id{0}, draft_id{4}};
    CHECK_NOTHROW(require_ids(std::span(ids), 5, "x", "ids"));
    CHECK_THROWS_WITH(require_ids(std::span(ids), 4, "x", "ids"),
                      "x: drafter's ids: expected ids from 0 to 4 - 1, found 4");
    const std::vector none{target_id{}};
    CHECK_THROWS_WITH(require_ids(std::span(none), 4, "x", "ids"),
                      "x: target's ids: expected ids from 0 to 4 - 1, found -1");
}

TEST_CASE("tables of one size pass, others are refused by name") {
    CHECK_NOTHROW(require_size<target_id>(3, 3, "x", "context"));
    CHECK_THROWS_WITH(require_size<draft_id>(4, 3, "x", "context"),
                      "x: drafter's vocabulary: expected the 3 ids of the context, found 4");
}
