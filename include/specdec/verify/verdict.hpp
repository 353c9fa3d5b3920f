// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/proposal.hpp>

namespace specdec {

/// Where an emitted token came from.
enum class token_origin : std::uint8_t {
    accepted,  ///< a proposal that was kept
    corrected, ///< the target's replacement of a rejected proposal
    free,      ///< the target's own token behind the last proposal (or without any)
};

/// What a verification rule decided about one draft of gamma proposals.
struct verdict {
    std::size_t accepted = 0;  ///< tau: proposals kept, a prefix of the draft
    std::size_t evaluated = 0; ///< proposals looked at: tau, or tau + 1 after a rejection
    target_id next;            ///< the token behind them; always valid
    token_origin origin = token_origin::free; ///< of `next`: corrected or free
};

/// A verification rule: decides how many proposals to keep and draws the token behind them.
///
///     verify(law_at, proposals, coin, position)
///
/// law_at(i), i = 0 .. gamma: the target law p of the token at `position + i` given the context and
/// the first i proposals; called at most once for an i, in ascending order, and only for rows that
/// the rule needs. `position` is the index in the sequence of the first proposed token: the name of
/// the decisions' draw sites. A rule keeps no state, allocates nothing and is re-entrant.
template <class V, class Law, class LawAt, class C>
concept Verifier =
    LawOf<Law, target_id> && Coin<C> &&
    requires(const V& verify, LawAt& law_at, std::span<const proposal<Law>> proposals, C& coin,
             std::uint64_t position) {
        { verify(law_at, proposals, coin, position) } -> std::same_as<verdict>;
    };

} // namespace specdec
