// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/decode/clock.hpp>

namespace specdec {

/// Drafts of several texts in lockstep: what each needs next is made in one pass of the drafters'
/// model, until all have ended.
///
///     for every text       run.request_row()          which row of the drafter it needs next
///     once for all         gatherer->pass()        makes these rows
///     for every text       run.draw()              takes its row and draws with it
///
/// A text whose step needs no common pass (its drafter's model gathers no rows, or its row is
/// known) goes on alone until it does, or to its end. So a text draws the same as alone, each draw
/// being named by its own round, and a round takes as many common passes as the longest draft has
/// steps.
///
/// Texts: [] of objects with `run` (text_run, speculative_text), whose drafts have begun. act(text,
/// f) calls f() for the text's own work, so that who catches what it throws knows whose it was;
/// what the common pass throws is nobody's. If anything throws, nothing stays requested. A text's
/// share of a pass in time is the same for all in it. Allocates nothing.
template <class Text, class Act, Clock Time>
void draft_in_lockstep(std::span<Text> texts, const Act& act, Time& clock) {
    const auto request_row = [&](Text& x) {
        act(x, [&] {
            x.step = x.run->request_row();
            while (x.step.goes_on && x.step.gatherer == nullptr) {
                x.run->draw();
                x.step = x.run->request_row();
            }
        });
    };
    on_throw guard([&] {
        for (Text& x : texts)
            if (x.step.gatherer != nullptr)
                x.step.gatherer->forget();
    });
    for (Text& x : texts)
        request_row(x);
    for (;;) {
        // At first once more: a text that drafts alone may have changed what its model holds.
        std::size_t drafting = 0;
        for (Text& x : texts) {
            if (x.step.goes_on)
                request_row(x);
            drafting += x.step.goes_on ? 1U : 0U;
        }
        if (drafting == 0)
            break;
        const double begin = clock();
        for (Text& x : texts)
            if (x.step.goes_on)
                x.step.gatherer->pass(); // nothing, if an earlier one's has made its row
        const double share = (clock() - begin) / static_cast<double>(drafting);
        for (Text& x : texts)
            if (x.step.goes_on)
                act(x, [&] { x.run->draw(share); });
    }
    guard.done();
}

} // namespace specdec
