// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility> // std::exchange
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/core/draft_step.hpp>

namespace specdec {

/// A session's draft on its way, in the steps of SteppedBridge. A bridge without steps makes all of
/// it in begin(), so its text drafts alone. A step that throws ends no draft: nothing is given
/// until begin() was called again, and then the bridge goes on with what it has drawn.
template <class B>
class draft_steps {
public:
    using view_type = draft_view<typename B::law_type>;

    /// Whether a draft was begun that was not given: something may be drawn.
    [[nodiscard]] bool begun() const { return begun_; }
    void forget() { begun_ = ready_ = open_ = false; }

    template <DraftContextHolder D, StopRule Stop, Coin C>
    void begin(B& bridge, D& drafter, const Stop& stop, C& coin, draft_request request) {
        static_assert(!in_steps || SteppedBridge<B, D, Stop, C>,
                      "a bridge that drafts in steps has the members of SteppedBridge");
        static_assert(
            in_steps || !requires { bridge.request_row(drafter, stop); },
            "the bridge has request_row(), but its traits do not say in_steps");
        request.again = begun_;
        open_ = ready_ = false; // stays so if anything throws: the view is of an earlier draft
        if constexpr (!in_steps) {
            begun_ = true;
            view_ = bridge.propose(drafter, stop, coin, request);
        } else {
            const no_draft why = bridge.begin(drafter, stop, request);
            begun_ = true;
            view_ = view_type::nothing(why);
            open_ = why == no_draft::none;
        }
        ready_ = true;
    }
    template <DraftContextHolder D, StopRule Stop>
    [[nodiscard]] draft_step request_row(B& bridge, D& drafter, const Stop& stop) {
        if constexpr (in_steps) {
            if (!open_ || !std::exchange(ready_, false))
                return {};
            const draft_step step = bridge.request_row(drafter, stop);
            ready_ = true;
            return step;
        } else {
            return {};
        }
    }
    template <DraftContextHolder D, StopRule Stop, Coin C>
    void draw(B& bridge, D& drafter, const Stop& stop, C& coin) {
        if constexpr (in_steps) {
            if (!open_ || !std::exchange(ready_, false)) // half a step may be made
                return;
            bridge.draw(drafter, stop, coin);
            ready_ = true;
        }
    }
    /// Ends the draft where its drafter cannot go on: with what was drawn or, where that is
    /// nothing, because of `why`. False: the bridge cannot end it there.
    [[nodiscard]] bool cut(B& bridge, no_draft why) {
        bool ended = false;
        if constexpr (in_steps)
            ended = (open_ || !begun_) && bridge.end_draft(why, view_);
        if (!ended && begun_)
            return false;
        if (!ended) // nothing was drawn
            view_ = view_type::nothing(why);
        open_ = false;
        begun_ = ready_ = true;
        return true;
    }
    /// Gives the draft, once: its proposals to `proposed`, and those that the target has to
    /// `tokens`. The draft is cut after its first end token, if the bridge has not done it. False:
    /// there is none to be given.
    [[nodiscard]] bool end(B& bridge, std::span<const target_id> end_ids, view_type& draft,
                           std::vector<target_id>& proposed, std::vector<target_id>& tokens) {
        if (!begun_ || !std::exchange(ready_, false))
            return false;
        if constexpr (in_steps)
            if (open_)
                view_ = bridge.drafted();
        draft = view_;
        forget();
        std::size_t n = 0;
        for (bool goes_on = true; goes_on && n < view_.proposals.size(); ++n)
            goes_on = !is_end(end_ids, view_.proposals[n].token());
        draft.proposals = view_.proposals.first(n);
        draft.looked_up = view_.looked_up_of(n);
        for (const auto& x : draft.proposals)
            if (!x.ends_draft())
                proposed.push_back(x.token());
        put_tokens(draft, tokens);
        return true;
    }
    /// The proposals that the target has, after `tokens`.
    static void put_tokens(const view_type& draft, std::vector<target_id>& tokens) {
        for (const auto& x : draft.proposals)
            if (x.token().valid())
                tokens.push_back(x.token());
    }

private:
    static constexpr bool in_steps = bridge_traits_of<B>.in_steps;

    view_type view_;
    bool begun_ = false; // the bridge has a draft of this round, which was not given
    bool ready_ = false; // nothing has thrown since it was begun
    bool open_ = false;  // the bridge is drafting
};

} // namespace specdec
