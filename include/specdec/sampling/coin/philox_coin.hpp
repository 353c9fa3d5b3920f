// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <specdec/core/coin.hpp>
#include <specdec/sampling/coin/philox.hpp>

namespace specdec {

/// The upper 53 bits as a number in [0, 1): every multiple of 2^-53 is equally likely.
[[nodiscard]] constexpr double uniform01(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// The production coin: Philox keyed by (seed, sequence), its counter the name of the decision.
/// Models Coin. Without state: the outcome at a site depends on nothing but seed, sequence and
/// site, so text does not change with the draft length, the number of threads or what else was
/// drawn. Pre: no site is used for two decisions of one sequence. Allocates nothing.
class philox_coin {
public:
    constexpr explicit philox_coin(std::uint64_t seed, std::uint64_t sequence = 0)
        : key_{seed, sequence} {}

    /// True with probability min(1, max(0, probability)).
    [[nodiscard]] constexpr bool flip(draw_site site, double probability) const {
        return uniform(site) < probability;
    }

    /// An id drawn from the law.
    template <class L>
    [[nodiscard]] constexpr auto pick(draw_site site, const L& law) const {
        return law.at(uniform(site));
    }

    /// The number in [0, 1) that decides at the site.
    [[nodiscard]] constexpr double uniform(draw_site site) const {
        const philox4x64::counter_type counter{
            site.position, static_cast<std::uint64_t>(site.why),
            static_cast<std::uint64_t>(site.retry) << 32 | site.attempt, 0};
        return uniform01(philox4x64::block(key_, counter)[0]);
    }

private:
    philox4x64::key_type key_;
};

/// A coin over any std::uniform_random_bit_generator, which it borrows. Models Coin. It ignores
/// sites: outcomes depend on the order of draws, and a repeated draw gives a new outcome. So a
/// round must not be decided again after a throw that depended on what was drawn (see
/// session::verify), and exact match does not repeat discarded tokens.
template <class G>
class generator_coin {
public:
    constexpr explicit generator_coin(G& generator) : generator_(&generator) {}

    [[nodiscard]] constexpr bool flip(draw_site, double probability) {
        return uniform() < probability;
    }

    template <class L>
    [[nodiscard]] constexpr auto pick(draw_site, const L& law) {
        return law.at(uniform());
    }

    /// The next number in [0, 1).
    [[nodiscard]] constexpr double uniform(draw_site) { return uniform(); }

private:
    [[nodiscard]] constexpr double uniform() {
        constexpr std::uint64_t span = static_cast<std::uint64_t>(G::max()) - G::min();
        const auto draw = [&] { return static_cast<std::uint64_t>((*generator_)()) - G::min(); };
        if constexpr (span == ~std::uint64_t{0}) {
            return uniform01(draw());
        } else if constexpr (span == 0xFFFFFFFF) {
            const std::uint64_t high = draw();
            return uniform01(high << 32 | draw());
        } else {
            double u = 0;
            for (double unit = 1; unit > 0x1p-53;) {
                unit /= static_cast<double>(span) + 1;
                u += static_cast<double>(draw()) * unit;
            }
            return u < 1 ? u : 1 - 0x1p-53;
        }
    }

    G* generator_;
};

} // namespace specdec
