// SPDX-License-Identifier: MIT
#include <specdec/verify/placed_coin.hpp>

#include <catch2/catch.hpp>

#include "support/watched_coin.hpp"

using namespace specdec;

namespace placed_coin_tests {

TEST_CASE("a placed coin adds to each token's site where it begins") {
    testing::watched_coin<> coin;
    const std::vector<std::uint32_t> widths{2, 3};
    placed_coin<testing::watched_coin<>> placed{coin, text_offset(widths)};
    const std::uint64_t begin = placed.place.value();
    CHECK(placed.pick({}, one_hot_law(target_id{1})) == target_id{1});
    CHECK(placed.pick({}, one_hot_law(target_id{0})) == target_id{0});
    CHECK(placed.flip({}, 1.0));
    REQUIRE(coin.picked.size() == 2);
    CHECK(coin.picked[0].place == begin);
    CHECK(coin.picked[1].place != begin);
    CHECK(coin.flipped.at(0).place == 0);
}

} // namespace placed_coin_tests
