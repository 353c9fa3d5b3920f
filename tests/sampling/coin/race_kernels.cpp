// SPDX-License-Identifier: MIT
#include <specdec/sampling/coin/race_kernels.hpp>

#include <array>
#include <bit>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;
using namespace specdec::race_kernels;

namespace {

std::vector<screen_function> all_kernels() {
    std::vector<screen_function> kernels{portable::screen, best()};
#if SPECDEC_X86_KERNELS
    if (builtin::of_this_cpu() >= builtin::instructions::avx2_fma)
        kernels.push_back(avx2::screen);
    if (best() == avx512::screen)
        kernels.push_back(avx512::screen);
#endif
    return kernels;
}

struct screened {
    std::array<std::uint32_t, block> keys{};
    std::array<float, block> weights{};
    noise_words noise;

    explicit screened(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const auto word = [&] { return static_cast<std::uint32_t>(random() >> 32); };
        noise = {word(), word(), word()};
        for (std::size_t j = 0; j < block; ++j) {
            keys[j] = word();
            weights[j] = static_cast<float>(word() % 1000) / 1000;
        }
    }
    /// The least limit with which an id passes, as close as float can say it.
    [[nodiscard]] float least_limit() const {
        float least = std::numeric_limits<float>::infinity();
        for (std::size_t j = 0; j < block; ++j)
            if (weights[j] > 0) {
                const float limit = static_cast<float>(upper(keys[j], noise) >> 8) / weights[j];
                least = limit < least ? limit : least;
            }
        return least;
    }
};

} // namespace

TEST_CASE("every instruction set finds a block's candidate exactly when it has one") {
    for (const screen_function screen : all_kernels())
        for (std::uint64_t seed = 0; seed < 500; ++seed) {
            const screened s(seed);
            const float limit = s.least_limit();
            const auto found = [&](float l) {
                return screen(s.keys.data(), s.weights.data(), s.noise, l);
            };
            CAPTURE(seed, limit);
            CHECK(found(limit * 1.000001F));
            CHECK_FALSE(found(limit * 0.999999F));
            CHECK(found(std::numeric_limits<float>::infinity()));
        }
}

TEST_CASE("a candidate is found, and its group, wherever in the block it stands") {
    for (const screen_function screen : all_kernels())
        for (std::size_t j = 0; j < block; ++j) {
            screened s(j);
            s.weights.fill(0);
            s.weights[j] = 1;
            for (const float infinite : {0.0F, std::numeric_limits<float>::infinity()}) {
                const bool found = screen(s.keys.data(), s.weights.data(), s.noise, infinite);
                CHECK(found == (infinite > 0));
            }
            CHECK(screen(s.keys.data(), s.weights.data(), s.noise,
                         static_cast<float>(upper(s.keys[j], s.noise) >> 8)) == 1U << (j / group));
            CHECK(
                passes(s.keys[j], 1, s.noise, static_cast<float>(upper(s.keys[j], s.noise) >> 8)));
        }
}

TEST_CASE("the hash depends on every word and every bit of the key") {
    const noise_words noise{1, 2, 3};
    std::uint32_t fixed = 0; // keys that differ in their upper half only
    for (std::uint32_t k = 0; k < 1 << 16; ++k) {
        fixed += upper(k << 16, noise) == upper(k << 16, {2, 2, 3}) ? 1U : 0U;
        fixed += upper(k << 16, noise) == upper(k << 16, {1, 3, 3}) ? 1U : 0U;
        fixed += upper(k << 16, noise) == upper(k << 16, {1, 2, 4}) ? 1U : 0U;
    }
    CHECK(fixed < 8);
    std::uint64_t flipped = 0; // bits of the hash that change with a bit of the key: half of them
    constexpr std::uint32_t samples = 4096;
    for (std::uint32_t k = 0; k < samples; ++k)
        for (std::uint32_t bit = 0; bit < 32; ++bit)
            flipped += static_cast<std::uint64_t>(
                std::popcount(upper(k, noise) ^ upper(k ^ (1U << bit), noise)));
    CHECK(static_cast<double>(flipped) / (samples * 32.0 * 32.0) == Approx(0.5).margin(0.005));
}
