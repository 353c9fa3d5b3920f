// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// A bridge that shows the drafter's context: b.context(), of the committed text.
template <class B>
concept ShowsContext = requires(const B& bridge) {
    { bridge.context().ids() } -> std::convertible_to<std::span<const draft_id>>;
};

/// The drafter's context as the bridge holds it; empty if the bridge does not show it. Asking costs
/// what a draft would pay: contexts put off their work while rounds draft nothing.
template <class B>
[[nodiscard]] std::span<const draft_id> context_of(const B& bridge) {
    if constexpr (ShowsContext<B>)
        return bridge.context().ids();
    else
        return {};
}

/// All that a learner can see of a verified round (session::verified). Views into session, bridge
/// and the target's rows, which live until the next call of one of them. (The laws of SLRS and
/// merge may ask the drafter again.)
template <class Rows, class Law>
struct verified_round {
    std::span<const draft_id> context;        ///< the drafter's, at the beginning of the draft;
                                              ///< empty if nothing was drafted
    std::span<const draft_id> drafted;        ///< d_1 .. d_n
    std::span<const draft_progress> steps;    ///< [n] how the draft looked behind each of them
    std::span<const proposal<Law>> proposals; ///< x_1 .. x_gamma with their laws; an invalid one
                                              ///< says that the draft's law ended it
    std::size_t accepted = 0;                 ///< x_1 .. x_accepted were kept
    std::size_t evaluated = 0;         ///< proposals decided on: accepted, and a rejected one
    std::span<const target_id> text;   ///< the committed tokens, without the round's
    std::span<const target_id> tokens; ///< to be committed: the kept proposals and the target's
                                       ///< own, which there is none of after an end token
    Rows rows;                         ///< as given to verify(): row i is of the token behind
                                       ///< text and x_1 .. x_i
    sampling_parameters sampling{};    ///< with which they became laws
};

/// Makes the view of what a session holds between verify() and commit(). tokens: the `committed`
/// tokens of the text, then the round's.
template <class B, class Rows>
[[nodiscard]] verified_round<Rows, typename B::law_type>
round_of(const B& bridge, const draft_view<typename B::law_type>& draft, const verdict& decided,
         std::span<const target_id> tokens, std::size_t committed, const Rows& rows,
         const sampling_parameters& sampling) {
    const bool nothing = draft.draft_tokens.empty();
    const std::size_t emitted = decided.emitted();
    return {.context = nothing ? std::span<const draft_id>{} : context_of(bridge),
            .drafted = draft.draft_tokens,
            .steps = draft.steps,
            .proposals = draft.proposals,
            .accepted = decided.accepted,
            .evaluated = decided.evaluated,
            .text = tokens.first(committed),
            .tokens = tokens.subspan(committed, emitted),
            .rows = rows,
            .sampling = sampling};
}

} // namespace specdec
