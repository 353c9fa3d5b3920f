// SPDX-License-Identifier: MIT
#pragma once

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
#include <specdec/draft/lookup/mixed_distribution.hpp>
#include <specdec/draft/stop_rule.hpp>

namespace specdec {

/// A lookup that speaks beside a drafter: what it finds, and whose turn it is.
template <TextLookup Lookup, TokenizerOf<target_id> Tokenizer>
struct speaking_lookup {
    lookup_hit_tokens<Lookup, Tokenizer> found;
    lookup_turns turns;
};

/// Lookup beside a drafter, under any bridge: in a round either one speaks.
///
///     found    := what the text's end was followed by (lookup_hit_tokens)
///     n        := turns.choose(found)
///     proposals := n > 0:  found_1 .. found_n, each for certain
///                  else    those of the bridge, with their laws
///
/// Whose turn it is is decided before anything is drawn, by what was committed, in this text and in
/// those that share an index or a table; so it is no part of any law that a round draws from. Where
/// the drafter proposes nothing and has drawn nothing, because its stop rule does not want to, it
/// is full or it has failed, the lookup may speak in its place. Lossless with every bridge and
/// every verifier with which the bridge is. A round of the drafter is refused if what its laws read
/// has changed, a round of the lookup never.
///
/// Models SteppedBridge, as B does. Without a lookup it is B. Borrows the tokenizer. Allocates as B
/// and lookup_hit_tokens.
template <class B, TextLookup Lookup, TokenizerOf<target_id> Tokenizer>
class lookup_or_draft {
public:
    using law_type = mixed_distribution<typename B::law_type>;
    using lookup_type = speaking_lookup<Lookup, Tokenizer>;
    static constexpr bridge_traits traits =
        bridge_traits_of<B> | bridge_traits{.shares_pass = true};

    static_assert(traits.in_steps, "lookup_or_draft needs a bridge that drafts in steps");

    /// The bridge proposes at most max_proposals tokens a round.
    lookup_or_draft(B bridge, std::optional<lookup_type> lookup, std::size_t max_proposals)
        : bridge_(std::move(bridge)), lookup_(std::move(lookup)), max_proposals_(max_proposals) {
        const std::size_t found = lookup_ ? lookup_->found.most() : 0;
        proposals_.reserve((found > max_proposals ? found : max_proposals) + 1);
    }

    void start(std::span<const draft_id> prefix) {
        bridge_.start(prefix);
        forget();
        if (lookup_)
            lookup_->found.start();
    }
    void follow(std::span<const target_id> committed) {
        bridge_.follow(committed);
        if (lookup_) {
            if (lookup_->found.asked())
                lookup_->turns.learn(
                    {turn_ == speaker::lookup, proposals_.size(), drafted_, committed.size()},
                    lookup_->found.outcome(committed));
            lookup_->found.follow(committed);
        }
        forget();
    }

    /// How many texts share the target's passes: between rounds.
    void share_pass(std::size_t texts) {
        specdec::share_pass(bridge_, texts);
        if (lookup_)
            lookup_->turns.share_pass(texts);
    }

    /// The bridge beside which is looked up.
    [[nodiscard]] const B& bridge() const { return bridge_; }
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

    /// Whoever spoke.
    template <class Rows>
    void learn_rows(std::span<const target_id> ids, const Rows& rows)
        requires(bridge_traits_of<B>.learns_rows)
    {
        bridge_.learn_rows(ids, rows);
    }
    // What the bridge shows, of rounds in which it spoke.
    [[nodiscard]] const auto& context() const
        requires requires(const B& b) { b.context(); }
    {
        return bridge_.context();
    }
    [[nodiscard]] std::size_t target_size() const
        requires requires(const B& b) { b.target_size(); }
    {
        return bridge_.target_size();
    }
    [[nodiscard]] std::size_t draft_size() const
        requires requires(const B& b) { b.draft_size(); }
    {
        return bridge_.draft_size();
    }
    template <class D, class Stop>
    void ask(D& drafter, const Stop& stop)
        requires(bridge_traits_of<B>.asks_again)
    {
        if (turn_ == speaker::drafter)
            bridge_.ask(drafter, stop);
    }
    void require_unchanged() const
        requires(bridge_traits_of<B>.asks_again)
    {
        if (turn_ == speaker::drafter)
            bridge_.require_unchanged();
    }
    [[nodiscard]] std::size_t extra_forwards() const
        requires(bridge_traits_of<B>.counts_forwards)
    {
        return turn_ == speaker::drafter ? bridge_.extra_forwards() : 0;
    }
    [[nodiscard]] auto steps() const
        requires(bridge_traits_of<B>.shows_steps)
    {
        return bridge_.steps();
    }
    [[nodiscard]] bool first_row_known() const
        requires(bridge_traits_of<B>.knows_first_row)
    {
        return turn_ == speaker::drafter && bridge_.first_row_known();
    }

private:
    enum class speaker : std::uint8_t { nobody, drafter, lookup };

    static std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }
    [[nodiscard]] const lookup_hit_tokens<Lookup, Tokenizer>& found() const {
        return lookup_->found;
    }
    void forget() {
        turn_ = speaker::nobody;
        drafted_ = 0;
        proposals_.clear();
    }

    /// A new round: whether it is the lookup's turn, which then proposes. A draft in which
    /// something threw stays the drafter's, whatever was found since.
    [[nodiscard]] bool speaks_first(const draft_request& request) {
        const bool goes_on = request.again && turn_ == speaker::drafter;
        request_ = request;
        request_.again = goes_on;
        if (goes_on)
            return false;
        forget();
        if (lookup_ && request.max_proposals > 0 &&
            lookup_->found.find(fixed_length{lookup_->found.most()}))
            look_up(lookup_->turns.choose(found().steps()));
        return looked_up();
    }
    [[nodiscard]] draft_request of_drafter() const {
        draft_request own = request_;
        own.max_proposals = smaller(request_.max_proposals, max_proposals_);
        return own;
    }
    /// The drafter's turn: its draft, or what the lookup says in its place.
    [[nodiscard]] draft_view<law_type> take(const draft_view<typename B::law_type>& draft) {
        unused_coin none;
        turn_ = speaker::drafter;
        drafted_ = draft.draft_tokens.size();
        proposals_.clear();
        for (const proposal<typename B::law_type>& x : draft.proposals)
            proposals_.push_back(proposal<law_type>::draw(law_type(x), none, {}));
        const bool undrawn = draft.reason == no_draft::stop_rule ||
                             draft.reason == no_draft::drafter_full ||
                             draft.reason == no_draft::drafter_failed;
        if (lookup_ && undrawn && !found().ids().empty())
            look_up(lookup_->turns.choose_alone(found().steps()));
        if (looked_up())
            return said();
        return {proposals_, draft.draft_tokens, draft.steps, draft.reason, draft.looked_up};
    }
    /// Proposes the first n tokens that were found, as far as there is room.
    void look_up(std::size_t n) {
        unused_coin none;
        const std::span<const target_id> ids = found().ids();
        for (std::size_t i = 0; i < smaller(n, request_.max_proposals); ++i) {
            proposals_.push_back(proposal<law_type>::draw(law_type(ids[i]), none, {}));
            if (is_end(request_.end_ids, ids[i]))
                break;
        }
        if (!proposals_.empty())
            turn_ = speaker::lookup;
    }
    [[nodiscard]] draft_view<law_type> said() const {
        return {proposals_, {}, {}, no_draft::none, proposals_.size()};
    }

    B bridge_;
    std::optional<lookup_type> lookup_;
    std::size_t max_proposals_;
    draft_request request_;          // of this round
    speaker turn_ = speaker::nobody; // of this round
    std::size_t drafted_ = 0;        // draws of the drafter in it
    std::vector<proposal<law_type>> proposals_;
};

} // namespace specdec
