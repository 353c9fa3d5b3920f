// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/text_offset.hpp>

namespace specdec {

/// Where an emitted token came from.
enum class token_origin : std::uint8_t {
    accepted,  ///< a proposal that was kept
    corrected, ///< the target's replacement of a rejected proposal
    free,      ///< the target's own token behind the last proposal (or without any)
    residual,  ///< the target's token where the draft's law ended the draft (SLRS, merge): drawn
               ///< from what that law leaves of p, though no proposal was rejected
};

/// What a verification rule decided about one draft of gamma proposals.
struct verdict {
    std::size_t accepted = 0;  ///< tau: proposals kept, a prefix of the draft
    std::size_t evaluated = 0; ///< proposals decided on: tau, or tau + 1 after a rejection
    target_id next;            ///< the token behind them; always valid
    token_origin origin = token_origin::free; ///< of `next`: corrected or free (a rule's own words)
};

/// A verification rule: decides how many proposals to keep and draws the token behind them.
///
///     verify(law_at, proposals, coin, round)
///
/// law_at(i), i = 0 .. gamma: the target law p of the token at `round.position + i` given the
/// context and the first i proposals; called at most once for an i, in ascending order, and only
/// for rows that the rule needs (each call reads the row); all these laws may be alive at once.
/// `round` names the decisions (see round_name). A rule keeps no state, allocates nothing and is
/// re-entrant.
///
/// `evaluated` has one meaning for all rules, so that acceptance rates compare: a block rule looks
/// at every proposal before it decides, yet behind the first rejected one none was decided on.
template <class V, class Law, class LawAt, class C>
concept Verifier = LawOf<Law, target_id> && Coin<C> &&
                   requires(const V& verify, LawAt& law_at,
                            std::span<const proposal<Law>> proposals, C& coin, round_name round) {
                       { verify(law_at, proposals, coin, round) } -> std::same_as<verdict>;
                   };

/// A rule whose draw sites carry the place in the text (coupled_match) has to know what is
/// committed. The session tells it exactly when it tells the bridge, so an abandoned round leaves
/// no trace; what it counts is all the state it has.
///
///     verify.start(prompt)   forget everything; the text begins with the prompt
///     verify.follow(tokens)  these tokens were committed
///     verify.place()         the place behind them: of the round's first token
template <class V>
concept FollowsText = requires(V& verify, const V& rule, std::span<const target_id> tokens) {
    verify.start(tokens);
    verify.follow(tokens);
    { rule.place() } -> std::same_as<text_offset>;
};

} // namespace specdec
