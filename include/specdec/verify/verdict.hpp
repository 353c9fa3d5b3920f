// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/text_offset.hpp>

namespace specdec {

/// Where an emitted token came from.
enum class token_origin : std::uint8_t {
    accepted,  ///< an accepted proposal of a drafter
    corrected, ///< the target's replacement of a rejected proposal
    free,      ///< the bonus token: the target's own token after the last proposal, or without any
    residual,  ///< the target's token where the draft ended by its own distribution (`slrs`,
               ///< `merge`): no proposal was rejected, but the token is drawn from the residual
    looked_up, ///< an accepted proposal of looked-up text, or of text that a grammar forces
};

/// What a verification rule decided about one draft of gamma proposals.
struct verdict {
    std::size_t accepted = 0;  ///< tau: proposals kept, a prefix of the draft
    std::size_t evaluated = 0; ///< proposals decided on: tau, or tau + 1 after a rejection
    target_id next{};          ///< the token after them; invalid if the sequence has `ended`
    token_origin origin = token_origin::free; ///< of `next`; never a proposal
    bool ended = false; ///< the last accepted proposal is an end token: nothing is drawn after it

    /// Whether a rule made it. A default verdict is of no rule.
    [[nodiscard]] bool decided() const { return ended || next.valid(); }
    /// Tokens that may be committed: the accepted proposals and `next`, if there is one.
    [[nodiscard]] std::size_t emitted() const { return accepted + (next.valid() ? 1U : 0U); }
};

/// Requires that a round is decided once.
inline void require_undecided(const verdict& v, const char* source) {
    if (v.decided())
        fail(source, "verify", "expected a round that is not verified yet: draft again, or commit");
}

/// The verdict of a rule that keeps the first i proposals but not the next one, in whose place it
/// has drawn `next`.
template <class Law>
[[nodiscard]] verdict reject(std::span<const proposal<Law>> proposals, std::size_t i,
                             target_id next) {
    if (proposals[i].ends_draft())
        return {i, i, next, token_origin::residual};
    return {i, i + 1, next, token_origin::corrected};
}

/// The target's distributions along a draft, as a session gives them to a rule: law(i), and
/// ends(i), whether the sequence has ended before place i, so that there is no distribution.
template <class Law, class Ends>
struct laws_along {
    Law law;
    Ends ends;

    auto operator()(std::size_t i) const { return law(i); }
};
template <class Law, class Ends>
laws_along(Law, Ends) -> laws_along<Law, Ends>;

/// Whether the sequence has ended before place i of a chain, or after node i of a tree. Never for
/// a law_at that is no laws_along.
template <class LawAt>
[[nodiscard]] bool ends_before(const LawAt&, std::size_t) {
    return false;
}
template <class Law, class Ends>
[[nodiscard]] bool ends_before(const laws_along<Law, Ends>& law_at, std::size_t i) {
    return law_at.ends(i);
}

/// The verdict of a rule that accepts `accepted` proposals and has nothing left to test: the bonus
/// token is drawn from law_at(place). After an end token none is drawn, and no law is asked for.
template <class LawAt, class C>
[[nodiscard]] verdict accept_all(LawAt& law_at, std::size_t place, std::size_t accepted, C& coin,
                                 draw_site site) {
    if (ends_before(law_at, place))
        return {accepted, accepted, {}, token_origin::free, true};
    return {accepted, accepted, coin.pick(site, law_at(place)), token_origin::free};
}

/// A verification rule: decides how many proposals to keep and draws the token behind them.
///
///     verify(law_at, proposals, coin, round)
///
/// law_at(i), i = 0 .. gamma, is the target law p of the token at `round.position + i`, given the
/// context and the first i proposals. A rule calls it at most once for each i, in ascending order,
/// and only where it needs the law, because each call reads the row. All these laws may be alive at
/// once. An end token is the last proposal of its draft, and there is no law after it: a rule that
/// accepts all proposals ends with accept_all(). `round` names the decisions (see round_name). A
/// rule keeps no state, allocates nothing and is re-entrant.
///
/// verdict::evaluated counts the kept proposals and the first rejected one, for every rule, so that
/// conditional acceptance rates compare. A block rule looks at more proposals, but does not count
/// them.
template <class V, class Law, class LawAt, class C>
concept Verifier = LawOf<Law, target_id> && Coin<C> &&
                   requires(const V& verify, LawAt& law_at,
                            std::span<const proposal<Law>> proposals, C& coin, round_name round) {
                       { verify(law_at, proposals, coin, round) } -> std::same_as<verdict>;
                   };

/// A rule whose draw sites carry the place in the text (coupled_match) has to know the committed
/// tokens. The session calls it whenever it calls the bridge's start and follow, so an abandoned
/// round leaves no trace. The place is all the state it has.
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
