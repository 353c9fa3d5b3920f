// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility> // std::exchange
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/core/draft_step.hpp>

namespace specdec {

/// A session's draft on its way, in the steps of SteppedBridge. A bridge without steps makes all of
/// it in begin(), so its text drafts alone.
template <class B>
class draft_steps {
public:
    using view_type = draft_view<typename B::law_type>;

    template <DraftContextHolder D, StopRule Stop, Coin C>
    void begin(B& bridge, D& drafter, const Stop& stop, C& coin, const draft_request& request) {
        open_ = false;
        ended_ = true; // stays so if anything throws: the view is of an earlier draft
        if constexpr (!SteppedBridge<B, D, Stop, C>) {
            view_ = bridge.propose(drafter, stop, coin, request);
        } else {
            const no_draft why = bridge.begin(drafter, stop, request);
            view_ = view_type::nothing(why);
            open_ = why == no_draft::none;
        }
        ended_ = false;
    }
    template <DraftContextHolder D, StopRule Stop>
    [[nodiscard]] draft_step announce(B& bridge, D& drafter, const Stop& stop) {
        if constexpr (requires { bridge.announce(drafter, stop); })
            return open_ ? bridge.announce(drafter, stop) : draft_step{};
        else
            return {};
    }
    template <DraftContextHolder D, StopRule Stop, Coin C>
    void draw(B& bridge, D& drafter, const Stop& stop, C& coin) {
        if constexpr (requires { bridge.draw(drafter, stop, coin); }) {
            if (!std::exchange(open_, false))
                return;
            ended_ = true; // nothing is proposed if anything throws: half a step may be made
            bridge.draw(drafter, stop, coin);
            open_ = true;
            ended_ = false;
        }
    }
    /// Gives the draft, once: its proposals to `proposed`, and those that the target has to
    /// `tokens`. The draft is cut behind its first end token, if the bridge has not done it.
    draft_step end(B& bridge, std::span<const target_id> end_ids, view_type& draft,
                   std::vector<target_id>& proposed, std::vector<target_id>& tokens) {
        if (ended_)
            return {};
        if constexpr (requires { bridge.drafted(); })
            if (open_)
                view_ = bridge.drafted();
        draft = view_;
        open_ = false;
        ended_ = true;
        std::size_t n = 0;
        for (bool goes_on = true; goes_on && n < view_.proposals.size(); ++n)
            goes_on = !is_end(end_ids, view_.proposals[n].token());
        draft.proposals = view_.proposals.first(n);
        draft.looked_up = view_.looked_up_of(n);
        for (const auto& x : draft.proposals) {
            if (!x.ends_draft())
                proposed.push_back(x.token());
            if (x.token().valid())
                tokens.push_back(x.token());
        }
        return {};
    }

private:
    view_type view_;
    bool open_ = false; // the bridge is drafting
    bool ended_ = true; // the draft was given
};

} // namespace specdec
