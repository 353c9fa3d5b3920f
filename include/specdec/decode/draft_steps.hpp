// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits> // std::conditional_t
#include <utility>     // std::exchange

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/tree/tree_drafting.hpp>

namespace specdec {

/// What a bridge gives of a draft: a line of proposals, or a tree of them.
template <class B>
using draft_of =
    std::conditional_t<bridge_traits_of<B>.drafts_trees, draft_tree_view<typename B::law_type>,
                       draft_view<typename B::law_type>>;

/// Says how long a bridge's drafts are: a stop rule, or of trees the shape.
template <class R, class B>
concept DraftRuleOf = (bridge_traits_of<B>.drafts_trees && TreeShape<R>) ||
                      (!bridge_traits_of<B>.drafts_trees && StopRule<R>);

/// A session's draft on its way, in the steps of SteppedBridge. A bridge without steps, as all
/// bridges of trees are, makes all of it in begin(), so its text drafts alone. A step that throws
/// ends no draft: nothing is given until begin() was called again, and then the bridge goes on with
/// what it has drawn.
template <class B>
class draft_steps {
public:
    using draft_type = draft_of<B>;

    /// Whether a draft was begun that was not given: something may be drawn.
    [[nodiscard]] bool begun() const { return begun_; }
    void forget() { begun_ = ready_ = open_ = false; }

    /// request: of a draft that was begun before, it says so (draft_request::again).
    template <DraftContextHolder D, class Stop, Coin C, class Request>
    void begin(B& bridge, D& drafter, const Stop& stop, C& coin, const Request& request) {
        static_assert(!in_steps || SteppedBridge<B, D, Stop, C>,
                      "a bridge that drafts in steps has the members of SteppedBridge");
        static_assert(
            in_steps || !requires { bridge.request_row(drafter, stop); },
            "the bridge has request_row(), but its traits do not say in_steps");
        open_ = ready_ = false; // stays so if anything throws: the view is of an earlier draft
        if constexpr (!in_steps) {
            begun_ = true;
            view_ = bridge.propose(drafter, stop, coin, request);
        } else {
            const no_draft why = bridge.begin(drafter, stop, request);
            begun_ = true;
            view_ = draft_type::nothing(why);
            open_ = why == no_draft::none;
        }
        ready_ = true;
    }
    template <DraftContextHolder D, class Stop>
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
    template <DraftContextHolder D, class Stop, Coin C>
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
        else if constexpr (bridge_traits_of<B>.drafts_trees)
            ended = begun_ && bridge.end_draft(why, view_);
        if (!ended && begun_)
            return false;
        if (!ended) // nothing was drawn
            view_ = draft_type::nothing(why);
        open_ = false;
        begun_ = ready_ = true;
        return true;
    }
    /// Gives the draft, once. False: there is none to be given.
    [[nodiscard]] bool end(B& bridge, draft_type& draft) {
        if (!begun_ || !std::exchange(ready_, false))
            return false;
        if constexpr (in_steps)
            if (open_)
                view_ = bridge.drafted();
        draft = view_;
        forget();
        return true;
    }

private:
    static constexpr bool in_steps = bridge_traits_of<B>.in_steps;

    draft_type view_;
    bool begun_ = false; // the bridge has a draft of this round, which was not given
    bool ready_ = false; // nothing has thrown since it was begun
    bool open_ = false;  // the bridge is drafting
};

} // namespace specdec
