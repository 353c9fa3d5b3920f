// SPDX-License-Identifier: MIT
#include <specdec/sampling/coin/philox_coin.hpp>

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/law/dense_law.hpp>

using namespace specdec;

namespace {

/// Mean and the share of true flips over many sites, each within 5 standard errors.
template <class C>
void check_fair(C&& coin_of) {
    constexpr int n = 20000;
    const std::vector<float> weights{1, 2, 5};
    const dense_law law(probabilities_row<target_id>{weights});
    int heads = 0, last = 0;
    for (int i = 0; i < n; ++i) {
        const auto position = static_cast<std::uint64_t>(i);
        heads += coin_of().flip({position, purpose::accept, 0}, 0.3) ? 1 : 0;
        last += coin_of().pick({position, purpose::target, 0}, law) == target_id{2} ? 1 : 0;
    }
    CHECK(std::abs(heads - 0.3 * n) < 5 * std::sqrt(0.21 * n));
    CHECK(std::abs(last - 0.625 * n) < 5 * std::sqrt(0.235 * n));
}

/// A generator that only knows two values.
template <class T, T Low, T High>
struct constant_generator {
    using result_type = T;
    static constexpr T min() { return Low; }
    static constexpr T max() { return High; }
    T operator()() { return value; }
    T value = High;
};

/// A law that reports the number it was drawn with.
struct recording_law {
    mutable double drawn = -1;
    std::size_t size() const { return 1; }
    double probability(target_id) const { return 1; }
    target_id at(double u) const {
        drawn = u;
        return target_id{0};
    }
};

} // namespace

TEST_CASE("uniform01 is at least 0 and below 1") {
    CHECK(uniform01(0) == 0);
    CHECK(uniform01(~std::uint64_t{0}) == 1 - 0x1p-53);
    CHECK(uniform01(std::uint64_t{1} << 63) == 0.5);
}

TEST_CASE("coins are fair") {
    SECTION("philox") {
        const philox_coin coin(3, 4);
        check_fair([&]() -> const philox_coin& { return coin; });
    }
    SECTION("64 bits") {
        std::mt19937_64 engine;
        check_fair([&] { return generator_coin(engine); });
    }
    SECTION("32 bits") {
        std::mt19937 engine;
        check_fair([&] { return generator_coin(engine); });
    }
    SECTION("31 bits from 1") {
        std::minstd_rand engine;
        check_fair([&] { return generator_coin(engine); });
    }
}

TEST_CASE("any generator stays at or above 0 and below 1") {
    const recording_law law;
    const auto check_ends = [&](auto generator) {
        generator_coin coin(generator);
        (void)coin.pick({}, law);
        CHECK(law.drawn < 1);
        CHECK(law.drawn > 0.9999999);
        CHECK(coin.flip({}, 1.0));
        generator.value = decltype(generator)::min();
        (void)coin.pick({}, law);
        CHECK(law.drawn == 0);
        CHECK_FALSE(coin.flip({}, 0.0)); // a bug of 2026: a coin of exactly 0 accepts p = 0
    };
    check_ends(constant_generator<std::uint8_t, 0, 255>{});
    check_ends(constant_generator<std::uint32_t, 0, 0xFFFFFFFF>{});
    check_ends(constant_generator<std::uint64_t, 0, ~std::uint64_t{0}>{});
    check_ends(constant_generator<std::uint64_t, 1, ~std::uint64_t{0}>{});
    check_ends(constant_generator<std::uint32_t, 1, 2147483646>{});
}

TEST_CASE("certain and impossible flips") {
    const philox_coin coin(1);
    for (std::uint64_t position = 0; position < 1000; ++position) {
        CHECK(coin.flip({position, purpose::accept, 0}, 1.0));
        CHECK(coin.flip({position, purpose::accept, 0}, 2.0));
        CHECK_FALSE(coin.flip({position, purpose::accept, 0}, 0.0));
        CHECK_FALSE(coin.flip({position, purpose::accept, 0}, -1.0));
    }
}

TEST_CASE(
    "a philox coin depends on seed, sequence and every part of the site, and on nothing else") {
    const draw_site site{5, purpose::accept, 0};
    const double u = philox_coin(1, 2).uniform(site);
    CHECK(philox_coin(1, 2).uniform(site) == u);
    CHECK(philox_coin(2, 2).uniform(site) != u);
    CHECK(philox_coin(1, 3).uniform(site) != u);
    CHECK(philox_coin(1, 2).uniform({6, purpose::accept, 0}) != u);
    CHECK(philox_coin(1, 2).uniform({5, purpose::draft, 0}) != u);
    CHECK(philox_coin(1, 2).uniform({5, purpose::accept, 1}) != u);
    CHECK(philox_coin(1, 2).uniform({5, purpose::accept, 0, 0, 1}) != u);
    CHECK(philox_coin(1, 2).uniform({5, purpose::accept, 0, 77}) == u); // the place is no name
}
