// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>

#include <specdec/core/coin.hpp>

namespace specdec {

/// A draft law whose probabilities are sums too long to finish, but can be compared: below(t,
/// bound) says whether probability(t) < bound, and sums only as far as that takes.
template <class Q, class Id>
concept ComparableLaw = requires(const Q& q, Id t, double bound) {
    { q.below(t, bound) } -> std::convertible_to<bool>;
};

/// A law that decides with even less work about a t that was drawn from it: keeps(t, p, u) is true
/// with probability min(1, p / q(t)) over u, uniform in [0, 1), and over the drafts that may have
/// led to t.
template <class Q, class Id>
concept KeepingLaw = ComparableLaw<Q, Id> && requires(const Q& q, Id t, double p, double u) {
    { q.keeps(t, p, u) } -> std::convertible_to<bool>;
};

/// How decisions about a law are made: by the ratio of two probabilities, or as the law can.
enum class law_flip : std::uint8_t { ratio, comparison, keeping };

/// A law that may be any of these, and says which (any_distribution).
template <class Q>
concept SaysFlip = requires(const Q& q) {
    { q.flips_by() } -> std::same_as<law_flip>;
};

template <class Id, class Q>
[[nodiscard]] constexpr law_flip flips_by([[maybe_unused]] const Q& q) {
    if constexpr (SaysFlip<Q>)
        return q.flips_by();
    else if constexpr (KeepingLaw<Q, Id>)
        return law_flip::keeping;
    else
        return ComparableLaw<Q, Id> ? law_flip::comparison : law_flip::ratio;
}

/// A coin that shows the number u in [0, 1) that decides at a site.
template <class C>
concept UniformCoin = requires(C& coin, draw_site site) {
    { coin.uniform(site) } -> UnitNumber;
};

/// True with probability min(1, p / q(t)), for a t drawn from q. For a comparable law it draws u
/// first and decides u q(t) < p; for any other law it computes the ratio. The outcome is the same.
/// A keeping law has another outcome, with the same probability.
template <Coin C, class Q, class Id>
[[nodiscard]] bool flip_ratio(C& coin, draw_site site, double p, const Q& q, Id t) {
    const auto keeps = [&](auto& c, const auto& law) { return law.keeps(t, p, c.uniform(site)); };
    const auto compares = [&](auto& c, const auto& law) {
        return law.below(t, p / c.uniform(site));
    };
    const auto divides = [&](auto& c, const auto& law) {
        return c.flip(site, p / law.probability(t));
    };
    if constexpr (SaysFlip<Q> && UniformCoin<C>)
        return q.flips_by() == law_flip::keeping      ? keeps(coin, q)
               : q.flips_by() == law_flip::comparison ? compares(coin, q)
                                                      : divides(coin, q);
    else if constexpr (KeepingLaw<Q, Id> && UniformCoin<C>)
        return keeps(coin, q);
    else if constexpr (ComparableLaw<Q, Id> && UniformCoin<C>)
        return compares(coin, q);
    else
        return divides(coin, q);
}

/// True with probability 1 - min(1, q(t) / p): u < 1 - q(t) / p, in the same way. Pre: p > 0.
template <Coin C, class Q, class Id>
[[nodiscard]] bool flip_excess(C& coin, draw_site site, double p, const Q& q, Id t) {
    const auto compares = [&](auto& c, const auto& law) {
        return law.below(t, p * (1 - c.uniform(site)));
    };
    const auto divides = [&](auto& c, const auto& law) {
        const double draft = law.probability(t);
        return c.flip(site, draft < p ? 1 - draft / p : 0.0);
    };
    if constexpr (SaysFlip<Q> && UniformCoin<C>)
        return q.flips_by() == law_flip::ratio ? divides(coin, q) : compares(coin, q);
    else if constexpr (ComparableLaw<Q, Id> && UniformCoin<C>)
        return compares(coin, q);
    else
        return divides(coin, q);
}

} // namespace specdec
