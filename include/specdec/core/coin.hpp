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
    accept,   ///< whether the proposal at the position is kept
    residual, ///< the token that replaces a rejected proposal
    target,   ///< the target's own sample at the position (plain decoding, exact match, free token)
};

/// The name of one random decision.
struct draw_site {
    std::uint64_t position = 0; ///< index of a token in the sequence, prompt included
    purpose why = purpose::target;
    std::uint32_t attempt = 0; ///< counts repeated draws of one purpose at one position
    /// Where in the text the drawn token begins (text_place), 0 where nobody counts it. No part of
    /// the name: only coins that couple the draws of two models read it.
    std::uint64_t place = 0;
};

/// The source of all randomness: an argument of everything that draws. One coin belongs to one
/// sequence.
///
///     c.flip(site, p)     true with probability min(1, max(0, p))
///     c.pick(site, law)   an id drawn from the law
///
/// Outcomes of different sites are independent. Models: philox_coin (production), generator_coin
/// (any uniform random bit generator), enumerating_coin (visits every outcome; proofs).
template <class C>
concept Coin = requires(C& coin, draw_site site, double probability,
                        const one_hot_law<target_id>& target, const one_hot_law<draft_id>& draft) {
    { coin.flip(site, probability) } -> std::same_as<bool>;
    { coin.pick(site, target) } -> std::same_as<target_id>;
    { coin.pick(site, draft) } -> std::same_as<draft_id>;
};

} // namespace specdec
