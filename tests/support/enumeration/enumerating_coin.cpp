// SPDX-License-Identifier: MIT
#include "support/enumeration/enumerating_coin.hpp"

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/law/dense_law.hpp>

using namespace specdec;

namespace enumerating_coin_tests {

draw_site site(std::uint64_t position) {
    return {position, purpose::accept, 0};
}

TEST_CASE("flips and picks make the law one computes by hand") {
    const std::vector<float> weights{1, 0, 3};
    const dense_law law(probabilities_row<target_id>{weights});
    std::map<std::string, double> found;
    int paths = 0;
    enumerate([&](enumerating_coin& coin) {
        std::string text = coin.flip(site(0), 0.25) ? "h" : "t";
        if (text == "h")
            text += std::to_string(coin.pick(site(1), law).value);
        found[text] += coin.probability();
        ++paths;
    });
    CHECK(paths == 3);
    CHECK(found == std::map<std::string, double>{{"t", 0.75}, {"h0", 0.0625}, {"h2", 0.1875}});
}

TEST_CASE("outcomes without probability are not visited") {
    int paths = 0;
    enumerate([&](enumerating_coin& coin) {
        CHECK_FALSE(coin.flip(site(0), 0.0));
        CHECK_FALSE(coin.flip(site(1), -0.5));
        CHECK(coin.flip(site(2), 1.0));
        CHECK(coin.flip(site(3), 1.5));
        CHECK(coin.pick(site(4), one_hot_law(target_id{7})) == target_id{7});
        CHECK(coin.probability() == 1);
        ++paths;
    });
    CHECK(paths == 1);
}

TEST_CASE("the number of flips until heads, cut at three") {
    std::map<int, double> found;
    enumerate([&](enumerating_coin& coin) {
        int flips = 0;
        while (flips < 3 && !coin.flip(site(static_cast<std::uint64_t>(flips)), 0.5))
            ++flips;
        found[flips] += coin.probability();
    });
    CHECK(found == std::map<int, double>{{0, 0.5}, {1, 0.25}, {2, 0.125}, {3, 0.125}});
}

TEST_CASE("code that draws nothing runs once") {
    int paths = 0;
    enumerate([&](enumerating_coin& coin) {
        ++paths;
        CHECK(coin.probability() == 1);
    });
    CHECK(paths == 1);
}

TEST_CASE("a site drawn twice is refused") {
    CHECK_THROWS_AS(enumerate([](enumerating_coin& coin) {
                        (void)coin.flip(site(0), 0.5);
                        (void)coin.flip(site(0), 0.5);
                    }),
                    error);
}

TEST_CASE("code that draws differently after the same outcomes is refused") {
    int calls = 0;
    CHECK_THROWS_AS(enumerate([&](enumerating_coin& coin) {
                        (void)coin.flip(site(calls++ == 0 ? 0 : 1), 0.5);
                    }),
                    error);
    calls = 0;
    CHECK_THROWS_AS(enumerate([&](enumerating_coin& coin) {
                        if (calls++ == 0)
                            (void)coin.flip(site(0), 0.5);
                    }),
                    error);
    calls = 0;
    CHECK_THROWS_AS(enumerate([&](enumerating_coin& coin) {
                        (void)coin.flip(site(0), calls++ == 0 ? 0.5 : 0.25);
                    }),
                    error);
}

TEST_CASE("a law without mass is refused") {
    struct empty_law {
        std::size_t size() const { return 3; }
        double probability(target_id) const { return 0; }
        target_id at(double) const { return {}; }
    };
    CHECK_THROWS_AS(
        enumerate([](enumerating_coin& coin) { (void)coin.pick(site(0), empty_law{}); }), error);
}

TEST_CASE("total variation") {
    using law = std::map<int, double>;
    CHECK(total_variation(law{{1, 0.5}, {2, 0.5}}, law{{1, 0.5}, {2, 0.5}}) == 0);
    CHECK(total_variation(law{{1, 1}}, law{{2, 1}}) == 1);
    CHECK(total_variation(law{{1, 0.5}, {2, 0.5}}, law{{1, 0.25}, {3, 0.75}}) == 0.75);
}

} // namespace enumerating_coin_tests
