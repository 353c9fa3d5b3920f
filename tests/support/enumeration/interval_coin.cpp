// SPDX-License-Identifier: MIT
#include "support/enumeration/interval_coin.hpp"

#include <cmath>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/sampling/lazy_flip.hpp>
#include <specdec/sampling/residual.hpp>

using namespace specdec;

static_assert(UniformCoin<interval_coin>);
static_assert(UniformCoin<philox_coin>);
static_assert(UnitNumber<double>);
static_assert(!UnitNumber<float>);
static_assert(!UnitNumber<int>);

namespace interval_coin_tests {

constexpr draw_site site(std::uint64_t position) {
    return {position, purpose::accept, 0};
}

/// The law of what a function draws.
template <class F>
std::map<int, double> law_of(F f) {
    std::map<int, double> law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        const int outcome = f(coin);
        law[outcome] += coin.probability();
    });
    return law;
}

/// A law of a user's, which knows doubles only.
struct plain_law {
    [[nodiscard]] std::size_t size() const { return 3; }
    [[nodiscard]] double probability(target_id t) const {
        return t.value == 0 ? 0.25 : t.value == 2 ? 0.75 : 0.0;
    }
    [[nodiscard]] target_id at(double u) const { return target_id{u < 0.25 ? 0 : 2}; }
};

TEST_CASE("an interval coin splits u where it is compared") {
    const auto law = law_of([](interval_coin& coin) {
        const auto u = coin.uniform(site(0));
        return u < 0.25 ? 0 : u < 0.75 ? 1 : 2;
    });
    CHECK(law == std::map<int, double>{{0, 0.25}, {1, 0.5}, {2, 0.25}});
}

TEST_CASE("a bound divided by u is below infinity and makes no path") {
    const auto law = law_of([](interval_coin& coin) {
        const auto u = coin.uniform(site(0));
        return (1 / u < HUGE_VAL) + 2 * (0 / u > 0.0);
    });
    CHECK(law == std::map<int, double>{{1, 1.0}});
}

TEST_CASE("a comparison that is decided already makes no path") {
    std::size_t paths = 0;
    enumerate<interval_coin>([&](interval_coin& coin) {
        const auto u = coin.uniform(site(0));
        ++paths;
        const bool low = u < 0.5;
        CHECK((u < 0.6) == (low || u < 0.6));
        CHECK((u < 0.5) == low);
        CHECK_FALSE(u < 0.0);
        CHECK_FALSE(u < -3.0);
        CHECK(u < 1.0);
        CHECK(u < 1e300);
    });
    CHECK(paths == 3);
}

TEST_CASE("one site has one u, and other sites others") {
    const auto joint = law_of([](interval_coin& coin) {
        const bool a = coin.flip(site(0), 0.5), again = coin.flip(site(0), 0.25);
        const bool b = coin.flip(site(1), 0.5), c = coin.flip({0, purpose::accept, 1}, 0.5);
        const bool d = coin.flip({0, purpose::draft, 0}, 0.5);
        const bool e = coin.flip({0, purpose::accept, 0, 0, 1}, 0.5);
        CHECK((!again || a));
        return a + 2 * again + 4 * b + 8 * c + 16 * d + 32 * e;
    });
    CHECK(joint.size() == 48);
    CHECK(joint.at(0) == 0.5 / 16);
    CHECK(joint.at(1) == 0.25 / 16);
    CHECK(joint.at(3) == 0.25 / 16);
}

TEST_CASE("a flip has its probability, whatever it is") {
    for (const double p : {-1.0, 0.0, 1e-9, 0.3, 1.0, 2.0, HUGE_VAL}) {
        const auto law = law_of([&](interval_coin& coin) { return coin.flip(site(0), p); });
        const double expected = p < 0 ? 0 : p > 1 ? 1 : p;
        CHECK((law.count(1) ? law.at(1) : 0.0) == expected);
    }
}

TEST_CASE("every law draws its ids with their probabilities through at()") {
    const std::vector<float> logits{0.3F, -1.0F, 2.0F, -HUGE_VALF, 0.3F};
    const std::vector<float> weights{1, 0, 3, 2};
    const std::vector<weighted_id<target_id>> entries{{target_id{1}, 2.0F}, {target_id{4}, 6.0F}};
    const softmax_law soft(logits_row<target_id>{logits}, {.temperature = 0.8F, .top_k = 3});
    const softmax_law other(logits_row<target_id>{logits}, {.temperature = 2});
    const auto check = [](const auto& law) {
        const auto drawn =
            law_of([&](interval_coin& coin) { return coin.pick(site(0), law).value; });
        double sum = 0;
        for (std::size_t i = 0; i < law.size(); ++i) {
            const int t = static_cast<int>(i);
            CHECK((drawn.count(t) ? drawn.at(t) : 0.0) ==
                  Approx(law.probability(target_id{t})).margin(1e-14));
        }
        for (const auto& [t, p] : drawn)
            sum += p;
        CHECK(sum == Approx(1).margin(1e-14));
    };
    check(soft);
    check(other);
    check(dense_law(probabilities_row<target_id>{weights}));
    check(sparse_law<target_id>(entries, 6));
    check(residual_law(soft, other));
    check(residual_law(soft, other, 0.5));
    check(one_hot_law<target_id>(target_id{2}));
    check(plain_law{});
}

TEST_CASE("an interval coin finds what code does differently after the same outcomes") {
    int calls = 0;
    CHECK_THROWS_AS(enumerate<interval_coin>([&](interval_coin& coin) {
                        (void)coin.flip(site(0), calls++ == 0 ? 0.5 : 0.4);
                    }),
                    error);
    calls = 0;
    CHECK_THROWS_AS(enumerate<interval_coin>([&](interval_coin& coin) {
                        (void)coin.flip(site(calls++ == 0 ? 0 : 1), 0.5);
                        (void)coin.flip(site(2), 0.5);
                    }),
                    error);
    calls = 0;
    CHECK_THROWS_AS(enumerate<interval_coin>([&](interval_coin& coin) {
                        if (calls++ == 0)
                            (void)coin.flip(site(0), 0.5);
                    }),
                    error);
}

TEST_CASE("what rounding makes of two equal bounds is no path") {
    std::size_t paths = 0;
    enumerate<interval_coin>([&](interval_coin& coin) {
        const auto u = coin.uniform(site(0));
        (void)(u < 0.3);
        (void)(u * 3 < 0.1 + 0.8); // 0.9, but for rounding
        ++paths;
    });
    CHECK(paths == 2);
}

} // namespace interval_coin_tests
