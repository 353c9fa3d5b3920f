// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/core/draft_step.hpp>

namespace specdec {

/// A bridge whose draft is made in steps, one row of the drafter each, so that several texts can
/// have the rows of a step made in one pass (decode/draft_in_lockstep.hpp):
///
///     b.begin(drafter, stop, request)   begins a draft, or says why there is none
///     b.request_row(drafter, stop)      whether it goes on; its next row is then requested of the
///                                       drafter. May be called again before draw
///     b.draw(drafter, stop, coin)       takes that row, and draws what it allows
///     b.drafted()                       ends the draft, and gives what propose() would have given
///     b.end_draft(why, draft)           ends it where a step threw and the drafter cannot go on.
///                                       What was drawn stays: `draft` becomes its view, or nothing
///                                       because of `why`. False: what was drawn cannot be a draft
///                                       by itself, as its distribution depends on how it goes on
///
/// propose() is the loop of these (draft_alone), so a text drafts the same together as alone. If a
/// step throws, begin() is called again, with request.again.
template <class B, class D, class Stop, class C>
concept SteppedBridge = Bridge<B, D, Stop, C> && requires(B& b, D& drafter, const Stop& stop,
                                                          C& coin, const draft_request& request) {
    { b.begin(drafter, stop, request) } -> std::same_as<no_draft>;
    { b.request_row(drafter, stop) } -> std::same_as<draft_step>;
    b.draw(drafter, stop, coin);
    { b.drafted() } -> std::same_as<draft_view<typename B::law_type>>;
    requires requires(no_draft why, draft_view<typename B::law_type>& draft) {
        { b.end_draft(why, draft) } -> std::same_as<bool>;
    };
};

/// end_draft() of a bridge whose drafts cannot be ended once something was drawn.
template <class Law>
[[nodiscard]] bool end_undrawn(bool drawn, no_draft why, draft_view<Law>& draft) {
    if (!drawn)
        draft = draft_view<Law>::nothing(why);
    return !drawn;
}

/// All steps of a draft, one behind the other.
template <class B, DraftContextHolder D, StopRule Stop, Coin C>
[[nodiscard]] draft_view<typename B::law_type> draft_alone(B& bridge, D& drafter, const Stop& stop,
                                                           C& coin, const draft_request& request) {
    if (const no_draft why = bridge.begin(drafter, stop, request); why != no_draft::none)
        return draft_view<typename B::law_type>::nothing(why);
    while (bridge.request_row(drafter, stop).goes_on)
        bridge.draw(drafter, stop, coin);
    return bridge.drafted();
}

} // namespace specdec
