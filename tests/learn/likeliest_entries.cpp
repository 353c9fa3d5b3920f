// SPDX-License-Identifier: MIT
#include <specdec/learn/likeliest_entries.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>

using namespace specdec;

TEST_CASE("one row of some is rows of its own") {
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    const logits_rows<target_id> all{values.data(), 3, 2, 2};
    const one_row<logits_rows<target_id>> last{all, 2};
    CHECK(last.size() == 1);
    CHECK(last.vocabulary() == 2);
    CHECK(last[0].values[1] == 6.0F);
}
