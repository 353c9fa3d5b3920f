// SPDX-License-Identifier: MIT
#include <specdec/verify/placed_coin.hpp>

#include <catch2/catch.hpp>

#include "support/place_watch.hpp"

using namespace specdec;

namespace placed_coin_tests {

/// Notes the places of the sites it is asked at.
struct noting_coin {
    std::vector<std::uint64_t> places;
    bool flip(draw_site site, double) {
        places.push_back(site.place);
        return true;
    }
    template <class L>
    auto pick(draw_site site, const L& law) {
        places.push_back(site.place);
        return law.at(0.0);
    }
};

TEST_CASE("a placed coin adds to each token's site where it begins") {
    noting_coin coin;
    const std::vector<std::uint32_t> widths{2, 3};
    placed_coin<noting_coin> placed{coin, text_offset(widths)};
    const std::uint64_t begin = placed.place.value();
    CHECK(placed.pick({}, one_hot_law(target_id{1})) == target_id{1});
    CHECK(placed.pick({}, one_hot_law(target_id{0})) == target_id{0});
    CHECK(placed.flip({}, 0.5));
    REQUIRE(coin.places.size() == 3);
    CHECK(coin.places[0] == begin);
    CHECK(coin.places[1] != begin);
    CHECK(coin.places[2] == 0);
}

} // namespace placed_coin_tests
