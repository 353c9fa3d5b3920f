// SPDX-License-Identifier: MIT
#include <specdec/head/exits/sampled_token_exit.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/head/exits/exit_model.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

using namespace specdec;

namespace sampled_token_exit_tests {

constexpr float forbidden = -std::numeric_limits<float>::infinity();

/// A coin that says what it was asked, and always answers `heads`.
struct told_coin {
    bool heads = true;
    std::vector<draw_site> sites{};
    std::vector<double> asked{};
    bool flip(draw_site site, double p) {
        sites.push_back(site);
        asked.push_back(p);
        return heads;
    }
    template <class L>
    auto pick(draw_site, const L& law) {
        return law.at(0.0);
    }
};

std::vector<float> example() {
    return {std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};
}

TEST_CASE("an exit speaks with the mass that passes, of a law of the tokens that pass") {
    told_coin coins[2];
    const sampled_token_exit<told_coin> choice(exit_thresholds({0.6, 0.2, 0.01}), {}, coins);
    static_assert(ExitChoice<const sampled_token_exit<told_coin>>);
    std::vector<float> row = example();
    CHECK_FALSE(choice.speaks(1, 9, 0, row)); // nothing passes: no draw
    CHECK(coins[1].sites.empty());
    CHECK(choice.speaks(1, 9, 1, row));
    REQUIRE(coins[1].sites.size() == 1);
    CHECK(coins[1].sites[0].position == 9);
    CHECK(coins[1].sites[0].why == purpose::exit);
    CHECK(coins[1].sites[0].attempt == 1);
    CHECK(coins[1].asked[0] == Approx(0.8).epsilon(1e-5));
    CHECK(row == std::vector<float>{example()[0], example()[1], forbidden, forbidden});
    row = example();
    CHECK(choice.speaks(1, 9, 2, row)); // all pass: no draw
    CHECK(choice.speaks(1, 9, 3, row)); // no threshold
    CHECK(coins[1].sites.size() == 1);
    CHECK(row == example());
    CHECK(coins[0].sites.empty());
}

TEST_CASE("the law that passes is that of the draft's parameters") {
    told_coin coin;
    const sampled_token_exit<told_coin> cool(exit_thresholds({0.3}), {.temperature = 2},
                                             std::span(&coin, 1));
    std::vector<float> row = example();
    CHECK(cool.speaks(0, 1, 0, row)); // square roots: 0.37, 0.29, 0.2, 0.12
    CHECK(row == std::vector<float>{example()[0], forbidden, forbidden, forbidden});
    const sampled_token_exit<told_coin> greedy(exit_thresholds({0.5, 0.51}), {.temperature = 0},
                                               std::span(&coin, 1));
    row = example();
    row[0] = std::log(0.505F), row[1] = std::log(0.295F);
    const std::vector<float> before = row;
    coin.sites.clear();
    CHECK(greedy.speaks(0, 1, 0, row)); // its probability at temperature 1, without a draw
    CHECK_FALSE(greedy.speaks(0, 1, 1, row));
    CHECK(coin.sites.empty());
    CHECK(row == before);
}

TEST_CASE("who does not speak leaves the row; asked again it says the same") {
    told_coin tails{.heads = false};
    const sampled_token_exit<told_coin> choice(exit_thresholds({0.2}), {}, std::span(&tails, 1));
    std::vector<float> row = example();
    CHECK_FALSE(choice.speaks(0, 1, 0, row));
    CHECK(row == example());
    std::vector<float> nothing(4, forbidden), certain{0, forbidden};
    CHECK(sampled_token_exit<told_coin>(exit_thresholds({1}), {}, std::span(&tails, 1))
              .speaks(0, 1, 0, certain)); // a threshold that is reached is enough
    CHECK_FALSE(choice.speaks(0, 1, 0, nothing));
    philox_coin coin(3, 0);
    const sampled_token_exit<philox_coin> real(exit_thresholds({0.2}), {}, std::span(&coin, 1));
    std::size_t spoke = 0;
    for (std::size_t place = 0; place < 1000; ++place) {
        row = example();
        const bool speaks = real.speaks(0, place, 0, row);
        std::vector<float> again = example();
        CHECK(real.speaks(0, place, 0, again) == speaks);
        CHECK(again == row);
        spoke += speaks;
    }
    CHECK(spoke > 750); // of 800 expected
    CHECK(spoke < 850);
}

TEST_CASE("coins and parameters that do not fit are refused") {
    told_coin coin;
    const sampled_token_exit<told_coin> choice(exit_thresholds({0.2}), {}, std::span(&coin, 1));
    CHECK_NOTHROW(choice.check(2, 1));
    CHECK_THROWS_WITH(choice.check(2, 2), Catch::StartsWith("sampled token exit: "));
    CHECK_THROWS_AS(choice.check(0, 1), error);
    CHECK_THROWS_AS(sampled_token_exit<told_coin>(exit_thresholds(), {.temperature = -1}, {}),
                    error);
}

} // namespace sampled_token_exit_tests
