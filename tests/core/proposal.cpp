// SPDX-License-Identifier: MIT
#include <specdec/core/proposal.hpp>

#include <array>
#include <concepts>
#include <type_traits>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>

#include "support/archetypes.hpp"

using namespace specdec;
using namespace specdec::testing;

// A token and a law cannot be put together: the only way is to draw.
using hot = one_hot_law<target_id>;
static_assert(!std::constructible_from<proposal<hot>, hot, target_id>);
static_assert(!std::constructible_from<proposal<hot>, target_id>);
static_assert(!std::constructible_from<proposal<hot>, hot>);
static_assert(!std::default_initializable<proposal<hot>>);
static_assert(!std::is_aggregate_v<proposal<hot>>);
static_assert(std::copyable<proposal<hot>>);
static_assert(!std::convertible_to<proposal<hot>, proposal<dense_law<target_id>>>);

namespace {

/// Counts how a proposal is drawn.
struct watched_law {
    int* draws;
    std::size_t size() const { return 3; }
    double probability(target_id) const { return 0.5; }
    target_id at(double) const { return target_id{1}; }
    template <Coin C>
    target_id draw(C&, draw_site site) const {
        ++*draws;
        return target_id{static_cast<std::int32_t>(site.position)};
    }
};

} // namespace

TEST_CASE("the token of a proposal is drawn from its law at its site") {
    const std::array<float, 4> weights{1, 2, 3, 4};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        philox_coin coin(seed);
        const draw_site site{seed, purpose::draft, 2};
        const dense_law<target_id> law(probabilities_row<target_id>{weights});
        const auto x = proposal<dense_law<target_id>>::draw(law, coin, site);
        CHECK(x.token() == coin.pick(site, law));
        CHECK(x.probability() == law.probability(x.token()));
        CHECK(x.law().probability(target_id{3}) == law.probability(target_id{3}));
    }
}

TEST_CASE("a law that draws in its own way does so once") {
    int draws = 0;
    philox_coin coin(1);
    const auto x = proposal<watched_law>::draw(watched_law{&draws}, coin, {2, purpose::draft, 0});
    CHECK(draws == 1);
    CHECK(x.token() == target_id{2});
    CHECK(x.probability() == 0.5);
}

TEST_CASE("an archetype of a law makes a proposal") {
    coin_archetype coin;
    const auto x = proposal<law_archetype<target_id>>::draw({}, coin, {});
    CHECK(x.token().index() < 4);
    CHECK(x.probability() == 0.25);
}

TEST_CASE("a certain proposal is one-hot") {
    const auto x = certain(target_id{7});
    static_assert(std::same_as<decltype(x), const proposal<hot>>);
    CHECK(x.token() == target_id{7});
    CHECK(x.probability() == 1.0);
    CHECK(x.law().probability(target_id{6}) == 0.0);
}
