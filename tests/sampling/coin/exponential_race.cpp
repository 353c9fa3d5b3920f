// SPDX-License-Identifier: MIT
#include <specdec/sampling/coin/exponential_race.hpp>

#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

using namespace specdec;

namespace {

constexpr philox4x64::key_type key{5, 6};

std::vector<std::uint32_t> random_keys(std::size_t count) {
    std::mt19937_64 random(count);
    std::vector<std::uint32_t> keys(count);
    for (std::uint32_t& k : keys)
        k = static_cast<std::uint32_t>(random());
    return keys;
}

/// By the definition: every id with mass runs.
template <class L>
auto slowest_way(const L& law, const std::vector<std::uint32_t>& keys, const race_noise& noise) {
    using id_type = decltype(law.at(0.0));
    id_type winner{};
    double least = 0;
    for (std::size_t i = 0; i < law.size(); ++i) {
        const double p = law.probability(id_at<id_type>(i));
        if (!(p > 0))
            continue;
        const double time = noise.exponential(keys[i]) / p;
        if (!winner.valid() || time < least) {
            winner = id_at<id_type>(i);
            least = time;
        }
    }
    return winner;
}

template <class L>
void check_winners(const L& law, std::uint64_t places = 40) {
    const auto keys = random_keys(law.size());
    for (std::uint64_t place = 1; place <= places; ++place) {
        const race_noise noise(key, place);
        CAPTURE(law.size(), place);
        REQUIRE(race_winner(law, keys, noise) == slowest_way(law, keys, noise));
    }
}

std::vector<float> random_logits(std::size_t size, float spread) {
    std::mt19937_64 random(size);
    std::vector<float> row(size);
    for (float& l : row)
        l = spread * static_cast<float>(random() >> 40) * 0x1p-24F;
    return row;
}

/// A law that offers its weights at once, in a unit of its own.
struct weighing_law {
    std::vector<float> raw;
    double total;
    std::size_t size() const { return raw.size(); }
    double probability(target_id id) const { return static_cast<double>(raw[id.index()]) / total; }
    target_id at(double) const { return {}; }
    double weights(std::size_t first, std::span<float> out) const {
        for (std::size_t j = 0; j < out.size(); ++j)
            out[j] = raw[first + j];
        return 1 / total;
    }
};

} // namespace

static_assert(RacingLaw<softmax_law<target_id>> && !RacingLaw<one_hot_law<target_id>>);

TEST_CASE("the winner is the least of all, for laws of every type and size") {
    for (const std::size_t size : {1U, 2U, 5U, 255U, 256U, 257U, 511U, 513U, 3000U})
        for (const float spread : {0.0F, 3.0F, 12.0F, 80.0F}) {
            const auto row = random_logits(size, spread);
            const logits_row<target_id> logits{row};
            check_winners(softmax_law(logits));
            check_winners(softmax_law(logits, {.temperature = 0.4F, .top_k = 7}));
            check_winners(softmax_law(logits, {.temperature = 1.5F, .top_p = 0.6F}));
            check_winners(softmax_law(logits, {.temperature = 0}));
            std::vector<float> weights(size);
            weighing_law weighing{{}, 0};
            for (std::size_t i = 0; i < size; ++i) {
                weights[i] = i % 3 == 1 && size > 2 ? 0.0F : std::exp(row[i] - spread);
                weighing.total += static_cast<double>(weights[i]);
            }
            weighing.raw = weights;
            check_winners(dense_law(probabilities_row<target_id>{weights}));
            check_winners(weighing);
        }
}

TEST_CASE("the winner of a sparse and of a certain law has mass") {
    const std::vector<weighted_id<target_id>> entries{{target_id{3}, 1e-30F},
                                                      {target_id{400}, 2e-30F}};
    check_winners(sparse_law<target_id>(entries, 1000));
    check_winners(one_hot_law<target_id>(target_id{300}));
}

TEST_CASE("masses far below what float holds do not mislead the race") {
    const std::vector<float> weights{1e-38F, 1.0F, 1e-44F, 1e-38F};
    check_winners(dense_law(probabilities_row<target_id>{weights}), 2000);
}

TEST_CASE("a number that rounds to 1 is the slowest of all, and wins where it runs alone") {
    // Found by search: the 64 bits of this key's noise are closer to 1 than a double is.
    const race_noise noise({5, 6}, 1'578'549);
    std::vector<std::uint32_t> keys{2'501'128'076, 7};
    REQUIRE(std::isinf(noise.exponential(keys[0])));
    for (const auto& [weights, winner] :
         {std::pair{std::vector{1.0F, 0.0F}, 0}, std::pair{std::vector{1.0F, 1e-10F}, 1},
          std::pair{std::vector{1e-30F, 0.0F}, 0}}) {
        CHECK(race_winner(dense_law(probabilities_row<target_id>{weights}), keys, noise) ==
              target_id{winner});
        std::vector<float> logits{std::log(weights[0]), std::log(weights[1])};
        CHECK(race_winner(softmax_law(logits_row<target_id>{logits}), keys, noise) ==
              target_id{winner});
    }
}

TEST_CASE("noise: exponential, at least its upper bits, named by key, sequence and place") {
    const race_noise noise(key, 9);
    double sum = 0, square = 0;
    constexpr std::uint32_t n = 200'000;
    for (std::uint32_t k = 0; k < n; ++k) {
        const double e = noise.exponential(k);
        REQUIRE(e >= race_kernels::upper(k, noise.words()) * 0x1p-32);
        REQUIRE(e > 0);
        sum += e;
        square += e * e;
    }
    CHECK(sum / n == Approx(1).margin(5 / std::sqrt(n)));
    CHECK(square / n == Approx(2).margin(5 * std::sqrt(20.0 / n)));
    CHECK(race_noise(key, 9).exponential(1) == noise.exponential(1));
    CHECK(race_noise(key, 10).exponential(1) != noise.exponential(1));
    CHECK(race_noise({5, 7}, 9).exponential(1) != noise.exponential(1));
    CHECK(race_noise({6, 6}, 9).exponential(1) != noise.exponential(1));
    CHECK(noise.exponential(2) != noise.exponential(1));
}

namespace {

/// Chi-square of the pairs (sixteenth of v at a, sixteenth of v at b) against independence: 255
/// degrees of freedom; an error of total variation 0.01 found with power 0.99 at a significance of
/// 1e-6: 507,000 samples.
template <class Pair>
void check_independent(Pair pair_of) {
    constexpr std::uint32_t samples = 507'000;
    constexpr double critical_255 = 377.1;
    std::vector<double> counts(256);
    for (std::uint32_t i = 0; i < samples; ++i) {
        const auto [a, b] = pair_of(i);
        counts[(a >> 28) * 16 + (b >> 28)] += 1;
    }
    double chi_square = 0;
    for (const double c : counts)
        chi_square += (c - samples / 256.0) * (c - samples / 256.0) / (samples / 256.0);
    CHECK(chi_square < critical_255);
}

std::uint32_t bits(std::uint64_t seed, std::uint64_t sequence, std::uint64_t place,
                   std::uint32_t k) {
    return race_kernels::upper(k, race_noise({seed, sequence}, place).words());
}

} // namespace

TEST_CASE("noise is uniform and independent over places, keys, seeds and sequences") {
    using pair = std::pair<std::uint32_t, std::uint32_t>;
    const race_noise here(key, 3), there(key, 4);
    check_independent([](std::uint32_t i) { // neighbouring places
        return pair{bits(1, 0, 2 * i, 77), bits(1, 0, 2 * i + 1, 77)};
    });
    check_independent([&](std::uint32_t i) { // neighbouring keys of one place
        return pair{race_kernels::upper(2 * i, here.words()),
                    race_kernels::upper(2 * i + 1, here.words())};
    });
    check_independent([&](std::uint32_t i) { // keys that differ in their highest bit
        return pair{race_kernels::upper(i, here.words()),
                    race_kernels::upper(i | 0x80000000U, here.words())};
    });
    check_independent([&](std::uint32_t i) { // one key at two places, over keys
        return pair{race_kernels::upper(i, here.words()), race_kernels::upper(i, there.words())};
    });
    check_independent([](std::uint32_t i) { // two keys, over places
        return pair{bits(1, 0, i, 1), bits(1, 0, i, 2)};
    });
    check_independent([](std::uint32_t i) { // neighbouring seeds
        return pair{bits(2 * i, 0, 5, 9), bits(2 * i + 1, 0, 5, 9)};
    });
    check_independent([](std::uint32_t i) { // neighbouring sequences
        return pair{bits(7, 2 * i, 5, 9), bits(7, 2 * i + 1, 5, 9)};
    });
}
