// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/draft/lookup/lookup_hit_tokens.hpp>
#include <specdec/draft/lookup/lookup_turns.hpp>
#include <specdec/source/lookup_beside.hpp>

namespace specdec {

/// Lookup beside a drafter, under any bridge: in a round either one speaks.
///
///     found     := what the text's end was followed by (lookup_hit_tokens)
///     n         := turns.choose(found)
///     proposals := n > 0:  found_1 .. found_n, each for certain
///                  else    those of the bridge, with their distributions
///
/// Whose turn it is is decided before anything is drawn, by what was committed, in this text and in
/// those that share an index or a table; so it is no part of any distribution that a round draws
/// from. Where the drafter proposes nothing and has drawn nothing, because its stop rule does not
/// want to, it is full or it has failed, the lookup may speak in its place. Lossless with every
/// bridge and every verifier with which the bridge is. A round of the drafter is refused if what
/// its distributions read has changed, a round of the lookup never.
///
/// Models SteppedBridge, as B does. Without a lookup it is B. Borrows the tokenizer. Allocates as B
/// and lookup_hit_tokens.
template <class B, TextLookup Lookup, TokenizerOf<target_id> Tokenizer, UnitNumber U = double>
class lookup_or_draft : public lookup_beside<B, Lookup, Tokenizer, lookup_turns, U> {
    using base = lookup_beside<B, Lookup, Tokenizer, lookup_turns, U>;
    using base::bridge_;
    using base::lookup_;

public:
    using typename base::law_type;
    using typename base::lookup_type;

    static_assert(base::traits.in_steps, "lookup_or_draft needs a bridge that drafts in steps");

    /// The bridge proposes at most max_proposals tokens a round.
    lookup_or_draft(B bridge, std::optional<lookup_type> lookup, std::size_t max_proposals)
        : base(std::move(bridge), std::move(lookup)), max_proposals_(max_proposals) {
        proposals_.reserve(std::max(base::most_found(), max_proposals) + 1);
    }

    void start(std::span<const draft_id> prefix) {
        base::start(prefix);
        forget();
    }
    void follow(std::span<const target_id> committed) {
        base::follow(committed, [&](lookup_turns& turns, const auto& found) {
            turns.learn({looked_up(), proposed_, drafted_, committed.size()},
                        found.outcome(committed));
        });
        forget();
    }

    /// Of this round, whose turn it was.
    [[nodiscard]] bool looked_up() const { return turn_ == speaker::lookup; }

    template <DraftContextHolder D, StopRule Stop, Coin C>
        requires Bridge<B, D, Stop, C>
    [[nodiscard]] draft_view<law_type> propose(D& drafter, const Stop& stop, C& coin,
                                               const draft_request& request) {
        return draft_alone(*this, drafter, stop, coin, request);
    }

    // The same in steps (SteppedBridge):
    template <DraftContextHolder D, StopRule Stop>
    [[nodiscard]] no_draft begin(D& drafter, const Stop& stop, const draft_request& request) {
        if (speaks_first(request))
            return no_draft::none;
        const no_draft why = bridge_.begin(drafter, stop, of_drafter());
        if (why != no_draft::none)
            return take(draft_view<typename B::law_type>::nothing(why)).reason;
        turn_ = speaker::drafter;
        return why;
    }
    template <DraftContextHolder D, StopRule Stop>
    [[nodiscard]] draft_step request_row(D& drafter, const Stop& stop) {
        return looked_up() ? draft_step{} : bridge_.request_row(drafter, stop);
    }
    template <DraftContextHolder D, StopRule Stop, Coin C>
    void draw(D& drafter, const Stop& stop, C& coin) {
        bridge_.draw(drafter, stop, coin);
    }
    [[nodiscard]] draft_view<law_type> drafted() {
        return looked_up() ? said() : take(bridge_.drafted());
    }
    [[nodiscard]] bool end_draft(no_draft why, draft_view<law_type>& draft) {
        draft_view<typename B::law_type> own;
        if (looked_up() || !bridge_.end_draft(why, own))
            return false;
        draft = take(own);
        return true;
    }

    // What the bridge shows, of rounds in which it spoke.
    template <class D, class Stop>
    void ask(D& drafter, const Stop& stop)
        requires(bridge_traits_of<B>.asks_again)
    {
        if (drafter_spoke())
            bridge_.ask(drafter, stop);
    }
    void require_unchanged() const
        requires(bridge_traits_of<B>.asks_again)
    {
        if (drafter_spoke())
            bridge_.require_unchanged();
    }
    [[nodiscard]] std::size_t extra_forwards() const
        requires(bridge_traits_of<B>.counts_forwards)
    {
        return drafter_spoke() ? bridge_.extra_forwards() : 0;
    }
    [[nodiscard]] auto steps() const
        requires(bridge_traits_of<B>.shows_steps)
    {
        return bridge_.steps();
    }
    [[nodiscard]] bool first_row_known() const
        requires(bridge_traits_of<B>.knows_first_row)
    {
        return drafter_spoke() && bridge_.first_row_known();
    }

private:
    enum class speaker : std::uint8_t { nobody, drafter, lookup };

    [[nodiscard]] bool drafter_spoke() const { return turn_ == speaker::drafter; }
    void forget() {
        turn_ = speaker::nobody;
        proposed_ = drafted_ = 0;
        proposals_.clear();
    }

    /// A new round: whether it is the lookup's turn, which then proposes. A draft in which
    /// something threw stays the drafter's, whatever was found since.
    [[nodiscard]] bool speaks_first(const draft_request& request) {
        const bool goes_on = request.again && drafter_spoke();
        request_ = request;
        request_.again = goes_on;
        if (goes_on)
            return false;
        forget();
        if (base::find(request))
            look_up(lookup_->policy.choose(lookup_->found.steps()));
        return looked_up();
    }
    [[nodiscard]] draft_request of_drafter() const {
        draft_request own = request_;
        own.max_proposals = std::min(request_.max_proposals, max_proposals_);
        return own;
    }
    /// The drafter's turn: its draft, or what the lookup says in its place.
    [[nodiscard]] draft_view<law_type> take(const draft_view<typename B::law_type>& draft) {
        turn_ = speaker::drafter;
        proposed_ = draft.proposals.size();
        drafted_ = draft.draft_tokens.size();
        const bool undrawn =
            draft.reason == no_draft::stop_rule || draft.reason == no_draft::drafter_full ||
            draft.reason == no_draft::drafter_failed || draft.reason == no_draft::drafter_reads;
        proposals_.clear();
        if (undrawn && !base::found_ids().empty())
            look_up(lookup_->policy.choose_alone(lookup_->found.steps()));
        if (looked_up())
            return said();
        if constexpr (base::shows_own) {
            return draft;
        } else {
            for (const proposal<typename B::law_type>& x : draft.proposals)
                proposals_.push_back(base::drawn(x));
            return {proposals_, draft.draft_tokens, draft.steps, draft.reason, draft.looked_up};
        }
    }
    /// Proposes the first n tokens that were found, as far as there is room.
    void look_up(std::size_t n) {
        for (const target_id t : base::found_ids().first(std::min(n, request_.max_proposals))) {
            proposals_.push_back(base::found(t));
            if (is_end(request_.end_ids, t))
                break;
        }
        if (proposals_.empty())
            return;
        turn_ = speaker::lookup;
        proposed_ = proposals_.size();
    }
    [[nodiscard]] draft_view<law_type> said() const {
        return {proposals_, {}, {}, no_draft::none, proposals_.size()};
    }

    std::size_t max_proposals_;
    draft_request request_;          // of this round
    speaker turn_ = speaker::nobody; // of this round
    std::size_t proposed_ = 0;       // tokens in it
    std::size_t drafted_ = 0;        // draws of the drafter in it
    std::vector<proposal<law_type>> proposals_;
};

} // namespace specdec
