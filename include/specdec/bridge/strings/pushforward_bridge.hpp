// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/draft_context.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/bridge/strings/pushforward_law.hpp>
#include <specdec/core/error.hpp>

namespace specdec {

struct pushforward_limits {
    std::size_t max_draft = 8; ///< draft tokens of a draft
    /// Every draft ends behind the token at which its probability falls below this; 0: none does.
    /// No depth has more than 1 / min_draft_probability drafts that go on, so deciding takes at
    /// most max_draft / min_draft_probability drafter forwards besides the drawn draft's.
    double min_draft_probability = 0.02;
};

/// The bridge of every f: drafts are drawn token by token, what f has settled of them is proposed
/// with its exact law, and the end of a draft as an invalid token (see pushforward), so every rule
/// that is lossless with one vocabulary is lossless here. A draft is drawn only as far as
/// max_proposals target tokens need (Timor et al. 2025, Lookahead). The drafter and the stop rule
/// are used until the round is verified, and the bridge must not be moved meanwhile. Memory: see
/// possible_drafts; it grows with the dearest round so far, to 1 + max_draft /
/// min_draft_probability nodes at most.
template <DraftContext Context, Translation F>
class pushforward_bridge {
public:
    using law_type = pushforward_law<F>;
    static constexpr bridge_traits traits{
        .in_steps = true, .asks_again = true, .counts_forwards = true, .knows_first_row = true};

    /// capacity: draft tokens of the longest context and a draft. Errors: specdec::error for limits
    /// out of range.
    pushforward_bridge(F f, Context context, std::size_t capacity, pushforward_limits limits)
        : context_(std::move(context)), law_(std::move(f), capacity), limits_(limits) {
        if (!(limits.min_draft_probability >= 0 && limits.min_draft_probability <= 1))
            fail("pushforward bridge", "min_draft_probability", "expected a number from 0 to 1");
        if (limits.max_draft > capacity) // their sum was more than a number holds
            fail("pushforward bridge", "max_draft", "expected at most the capacity");
    }

    void start(std::span<const draft_id> prefix) {
        context_.start(prefix);
        law_.start();
    }
    void follow(std::span<const target_id> committed) {
        law_.follow(committed);
        context_.follow(committed);
    }
    [[nodiscard]] const Context& context() const { return context_; }
    [[nodiscard]] std::size_t target_size() const { return translation().target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return translation().order().size(); }
    [[nodiscard]] const F& translation() const { return law_.translation(); }
    void require_unchanged() const { law_.require_unchanged(); }
    /// The drafter and the stop rule of a draft that is kept.
    template <Drafter D, StopRule Stop>
    void ask(D& drafter, const Stop& stop) {
        law_.ask(source_of(drafter, stop));
    }
    /// Drafter forwards of the last round that deciding took, besides drafting.
    [[nodiscard]] std::size_t extra_forwards() const {
        return proposals_.empty() ? 0 : law_.extra_forwards(); // nothing was drafted
    }
    /// Whether the last round began with a row that the one before it saw: one forward less.
    [[nodiscard]] bool first_row_known() const {
        return !proposals_.empty() && law_.first_row_known();
    }

    template <Drafter D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D& drafter, const Stop& stop, C& coin,
                                               const draft_request& request) {
        return draft_alone(*this, drafter, stop, coin, request);
    }

    // The same in steps (SteppedBridge):
    template <Drafter D, StopRule Stop>
    [[nodiscard]] no_draft begin(D& drafter, const Stop& stop, const draft_request& request) {
        if (request.again && begun_ && law_.drawn().size() > 0) {
            ask(drafter, stop); // no begin_draft_round: a drafter's mark may count its rounds
            return no_draft::none;
        }
        begun_ = false;
        proposals_.clear();
        request_ = request;
        open_ = true;
        if (const no_draft why =
                begin_draft(context_, drafter, stop,
                            limits_.max_draft == 0 ? 0 : request.max_proposals, limits_.max_draft);
            why != no_draft::none)
            return why;
        law_.begin(source_of(drafter, stop), context_.ids(), context_.unchanged(), request.sampling,
                   limits_.max_draft, limits_.min_draft_probability, request.max_proposals,
                   request.place);
        context_.mark();
        begun_ = true;
        return no_draft::none;
    }
    template <Drafter D, StopRule Stop>
    [[nodiscard]] draft_step request_row(D&, const Stop&) {
        return open_ ? law_.request_row() : draft_step{};
    }
    template <Drafter D, StopRule Stop, Coin C>
    void draw(D&, const Stop&, C& coin) {
        law_.grow(coin, request_.round.site(purpose::draft));
        while (open_ && law_.settled(proposals_.size())) {
            proposals_.push_back(proposal<law_type>::draw(law_type(law_, proposals_.size()), coin,
                                                          request_.round.site(purpose::draft)));
            const target_id t = proposals_.back().token();
            open_ = t.valid() && !is_end(request_.end_ids, t) &&
                    proposals_.size() < request_.max_proposals;
        }
    }
    [[nodiscard]] draft_view<law_type> drafted() const {
        return {proposals_, law_.drawn().tokens(), law_.drawn().steps(),
                !proposals_.empty() && proposals_.front().token().valid()
                    ? no_draft::none
                    : no_draft::nothing_to_say};
    }
    /// The distribution of what was drawn sums over drafts that go on, so only a draft of nothing
    /// is ended.
    [[nodiscard]] bool end_draft(no_draft why, draft_view<law_type>& draft) {
        return end_undrawn(begun_ && law_.drawn().size() > 0, why, draft);
    }

private:
    /// The drafter and the stop rule of this round's draft, which ends after these tokens.
    template <class D, class Stop>
    [[nodiscard]] draft_source source_of(D& drafter, const Stop& stop) const {
        draft_source source = draft_source::of(drafter, stop);
        source.end_ids = request_.draft_end_ids;
        return source;
    }

    Context context_;
    pushforward<F> law_;
    pushforward_limits limits_;
    draft_request request_;
    bool begun_ = false; // the law is of this round's draft
    bool open_ = false;  // nothing drawn has ended the draft
    std::vector<proposal<law_type>> proposals_;
};

} // namespace specdec
