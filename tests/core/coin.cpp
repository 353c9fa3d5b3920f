// SPDX-License-Identifier: MIT
#include <specdec/core/coin.hpp>

#include <random>

#include <catch2/catch.hpp>

#include "support/archetypes.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {
struct no_pick {
    bool flip(draw_site, double) { return true; }
};
struct no_flip {
    template <class L>
    auto pick(draw_site, const L& law) {
        return law.at(0.5);
    }
};
struct no_site : no_flip {
    bool flip(double) { return true; }
};
struct flips_a_number : no_flip {
    int flip(draw_site, double) { return 1; }
};
struct picks_an_index {
    bool flip(draw_site, double) { return true; }
    template <class L>
    std::size_t pick(draw_site, const L&) {
        return 0;
    }
};
struct one_side_only { // would fail in the first bridge
    bool flip(draw_site, double) { return true; }
    target_id pick(draw_site, const one_hot_law<target_id>& law) { return law.at(0); }
};
} // namespace
static_assert(!Coin<int>);
static_assert(!Coin<std::mt19937_64>); // a generator needs generator_coin
static_assert(!Coin<no_pick>);
static_assert(!Coin<no_flip>);
static_assert(!Coin<no_site>);
static_assert(!Coin<flips_a_number>);
static_assert(!Coin<picks_an_index>);
static_assert(!Coin<one_side_only>);

TEST_CASE("a draw site names a target's draw unless told otherwise") {
    constexpr draw_site site;
    CHECK(site.position == 0);
    CHECK(site.why == purpose::target);
    CHECK(site.attempt == 0);
    CHECK(site.place == 0);
    CHECK(site.retry == 0);
}
