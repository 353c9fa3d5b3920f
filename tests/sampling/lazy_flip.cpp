// SPDX-License-Identifier: MIT
#include <specdec/sampling/lazy_flip.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>

#include "support/enumeration/enumerating_coin.hpp"

using namespace specdec;

namespace {

/// A law that compares only, and counts how often.
struct comparing_law {
    std::vector<double> q;
    mutable int comparisons = 0;

    [[nodiscard]] bool below(target_id t, double bound) const {
        ++comparisons;
        return q[t.index()] < bound;
    }
};

/// The same law with its probabilities at hand.
struct plain_law {
    std::vector<double> q;
    [[nodiscard]] double probability(target_id t) const { return q[t.index()]; }
};

/// Shows u, and decides by it.
struct coin_of {
    double u;
    double uniform(draw_site) { return u; }
    bool flip(draw_site, double probability) { return u < probability; }
    template <class L>
    auto pick(draw_site, const L& law) {
        return law.at(u);
    }
};

/// A lazy law under a coin that shows no number.
struct both_law : plain_law {
    [[nodiscard]] bool below(target_id, double) const { throw "not to be asked"; }
};

} // namespace

static_assert(ComparableLaw<comparing_law, target_id>);
static_assert(!ComparableLaw<plain_law, target_id>);
static_assert(UniformCoin<philox_coin>);
static_assert(UniformCoin<coin_of>);
static_assert(!UniformCoin<enumerating_coin>);

TEST_CASE("a comparison decides what the ratio decides") {
    const std::vector<double> levels{0, 0.125, 0.25, 0.5, 1}; // all ratios and products are exact
    const plain_law plain{levels};
    const comparing_law lazy{levels};
    const draw_site site{3, purpose::accept};
    for (std::size_t i = 0; i < levels.size(); ++i)
        for (const double p : levels)
            for (double u = 0; u < 1; u += 0.0625) {
                const auto t = id_at<target_id>(i);
                const double q = levels[i];
                coin_of coin{u};
                CAPTURE(p, q, u);
                if (q > 0) { // what was drawn from q
                    REQUIRE(flip_ratio(coin, site, p, lazy, t) == (u * q < p));
                    REQUIRE(flip_ratio(coin, site, p, plain, t) == (u * q < p));
                }
                if (p > 0) {
                    REQUIRE(flip_excess(coin, site, p, lazy, t) == (u < 1 - q / p));
                    REQUIRE(flip_excess(coin, site, p, plain, t) == (u < 1 - q / p));
                }
            }
}

TEST_CASE("one comparison a decision, one number of the coin at the site") {
    const philox_coin coin(5);
    philox_coin same = coin;
    const plain_law plain{{0.3, 0.7}};
    const comparing_law lazy{{0.3, 0.7}};
    int kept = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        const target_id t{static_cast<std::int32_t>(i % 2)};
        const draw_site site{i, purpose::accept, i};
        const bool ratio = flip_ratio(same, site, 0.4, lazy, t);
        REQUIRE(ratio == flip_ratio(same, site, 0.4, plain, t));
        REQUIRE(flip_excess(same, site, 0.4, lazy, t) == flip_excess(same, site, 0.4, plain, t));
        kept += i % 2 == 1 && ratio ? 1 : 0;
    }
    CHECK(lazy.comparisons == 2000);
    CHECK(kept > 230); // 4 / 7 of 500
    CHECK(kept < 340);
}

TEST_CASE("a coin that enumerates is told the probability, not asked for a number") {
    const both_law law{{{0.5, 0.25}}};
    double kept = 0, again = 0;
    enumerate([&](enumerating_coin& coin) {
        if (flip_ratio(coin, {0, purpose::accept}, 0.25, law, target_id{0}))
            kept += coin.probability();
    });
    enumerate([&](enumerating_coin& coin) {
        if (flip_excess(coin, {0, purpose::residual}, 0.5, law, target_id{1}))
            again += coin.probability();
    });
    CHECK(kept == 0.5);
    CHECK(again == 0.5);
}
