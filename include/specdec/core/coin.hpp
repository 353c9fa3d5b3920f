// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>

#include <specdec/core/law.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// What a random decision is for. Together with a position it names the decision, so that a
/// counter-based coin gives it the same outcome whatever else was drawn before.
enum class purpose : std::uint32_t {
    draft,    ///< a draft token of the round that starts at the position
    accept,   ///< whether a proposal of the round is kept
    residual, ///< the token that replaces a rejected proposal of the round
    target, ///< the target's own sample: of the round (a free token), or at the position, whatever
            ///< the round (exact match)
    exit,   ///< whether an exit gives the drafter's row; the position counts the drafter's tokens
};

/// The name of one random decision.
struct draw_site {
    std::uint64_t position = 0; ///< index of a token in the sequence, prompt included
    purpose why = purpose::target;
    std::uint32_t attempt = 0; ///< counts the draws of one purpose in one round
    /// Where in the text the drawn token begins (text_offset); 0: unknown. It is no part of the
    /// name. Only coins that couple the draws of two models read it.
    std::uint64_t place = 0;
    std::uint32_t retry = 0; ///< see round_name
};

/// The name of a round: the index of its first token in the sequence, and how many rounds that
/// began there were thrown away whole. Most rules name their decisions by the round, not by the
/// position that a decision is about. So a later round never draws again what a partly committed
/// round drew, and what is drafted next may depend on all that was seen. (Named by positions, the
/// law would be off by up to 0.12 on a vocabulary of two.)
struct round_name {
    std::uint64_t position = 0;
    std::uint32_t retry = 0;

    constexpr round_name() = default;
    /// A position alone, also implicitly, names the first round that begins there.
    constexpr round_name(std::uint64_t first, std::uint32_t thrown_away = 0)
        : position(first), retry(thrown_away) {}

    /// A decision of the round.
    [[nodiscard]] constexpr draw_site site(purpose why, std::uint32_t attempt = 0,
                                           std::uint64_t place = 0) const {
        return {position, why, attempt, place, retry};
    }
};

/// A number u in [0, 1) that a decision compares with bounds. In production it is a double. Where
/// laws are enumerated it is an interval, which a comparison splits (tests/support/enumeration/).
/// The library computes u * x, u * x - x, x * (1 - u) and x / u, and compares them with doubles.
template <class U>
concept UnitNumber = std::copy_constructible<U> && requires(const U& u, double x) {
    requires std::same_as<decltype(u * x), U>; // float and integers would round
    { u < x } -> std::convertible_to<bool>;
    { u* x - x < x } -> std::convertible_to<bool>;
    { x * (1 - u) > x } -> std::convertible_to<bool>;
    { x / u > x } -> std::convertible_to<bool>;
};

/// The source of all randomness: an argument of all that draws. A coin belongs to one sequence.
///
///     c.flip(site, p)     true with probability min(1, max(0, p))
///     c.pick(site, law)   an id drawn from the law
///
/// Outcomes of different sites are independent; under coupled_coin not those of the two models at
/// one place. Models: philox_coin and coupled_coin (production), generator_coin (any uniform random
/// bit generator); in tests/support/enumeration/ enumerating_coin and interval_coin, which visit
/// every outcome.
template <class C>
concept Coin = requires(C& coin, draw_site site, double probability,
                        const one_hot_law<target_id>& target, const one_hot_law<draft_id>& draft) {
    { coin.flip(site, probability) } -> std::same_as<bool>;
    { coin.pick(site, target) } -> std::same_as<target_id>;
    { coin.pick(site, draft) } -> std::same_as<draft_id>;
};

/// A coin that is never asked: for laws whose draws are made already.
struct unused_coin {
    [[nodiscard]] bool flip(draw_site, double) const { return false; }
    template <class Law>
    [[nodiscard]] auto pick(draw_site, const Law& law) const {
        return law.at(0.0);
    }
};

} // namespace specdec
