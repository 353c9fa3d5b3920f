// SPDX-License-Identifier: MIT
#include <specdec/decode/tree_round.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("rows along a path: the first one, then each node's") {
    const std::vector<float> numbers{0, 1, 2, 3, 4, 5, 6, 7};
    const logits_rows<target_id> rows(numbers.data(), 4, 2, 2);
    const std::vector<std::size_t> path{0, 2};
    const path_rows<logits_rows<target_id>> along{rows, path};
    static_assert(RowsOf<path_rows<logits_rows<target_id>>, target_id>);
    REQUIRE(along.size() == 3);
    CHECK(along.vocabulary() == 2);
    CHECK(along[0].values[0] == 0);
    CHECK(along[1].values[0] == 2);
    CHECK(along[2].values[0] == 6);
}
