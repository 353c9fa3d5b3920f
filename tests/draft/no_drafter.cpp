// SPDX-License-Identifier: MIT
#include <specdec/draft/no_drafter.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("no drafter has no room and no rows") {
    no_drafter drafter;
    drafter.sync({}, 0);
    drafter.push(draft_id{1});
    CHECK(drafter.capacity() == 0);
    CHECK(drafter.row().size() == 0);
}
