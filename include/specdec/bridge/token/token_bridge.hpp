// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/draft_context.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/bridge/context/vocabulary_sizes.hpp>
#include <specdec/bridge/token/draft_row_store.hpp>
#include <specdec/bridge/token/mapped_law.hpp>
#include <specdec/sampling/drawn_draft.hpp>

namespace specdec {

/// The draft loop of every bridge that maps token by token (identity, union, TLI): draw a draft
/// token, propose its image, feed the drafter with it.
///
///     while the stop rule asks for more:
///         q := law of what the drafter says next, over what the map allows
///         x ~ map(q);  propose (x, q)
///         stop behind an end token or a token that has left T
///         the drafter's context := context + x
///
/// Map: to_target, to_draft, next_duplicate, target_size, shared; allows(d) says whether d may be
/// drawn, and prepare(row, out) copies a row and forbids the other ids. Kept: stores each
/// proposal's row or list, because the residual needs q after the drafter has moved on:
/// draft_row_store for a Drafter, draft_list_store for a ListingDrafter. Memory: the store's,
/// allocated at construction. A round allocates nothing.
template <DraftContext Context, class Map, class Kept = draft_row_store>
class token_bridge {
public:
    using law_type = mapped_law<typename Kept::law_type, Map>;
    static constexpr bridge_traits traits{.in_steps = true};

    /// `map` is a small view of tables that all sequences share. max_draft is the most draft tokens
    /// of a round. Errors: specdec::error where map and context are of different vocabularies.
    token_bridge(Map map, Context context, std::size_t max_draft)
        : token_bridge(map, std::move(context), max_draft, Kept(max_draft, map.draft_size())) {}
    /// For lists of at most `entries` entries; without it there is room for all draft ids.
    token_bridge(Map map, Context context, std::size_t max_draft, std::size_t entries)
        requires std::constructible_from<Kept, std::size_t, std::size_t, std::size_t>
        : token_bridge(map, std::move(context), max_draft,
                       Kept(max_draft, map.draft_size(), entries)) {}

    void start(std::span<const draft_id> prefix) { context_.start(prefix); }
    void follow(std::span<const target_id> committed) { context_.follow(committed); }
    [[nodiscard]] const Context& context() const { return context_; }
    [[nodiscard]] std::size_t target_size() const { return map_.target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return map_.draft_size(); }

    template <DraftContextHolder D, StopRule Stop, Coin C>
        requires(Kept::template takes<D>)
    [[nodiscard]] draft_view<law_type> propose(D& drafter, const Stop& stop, C& coin,
                                               const draft_request& request) {
        return draft_alone(*this, drafter, stop, coin, request);
    }

    // The same in steps (SteppedBridge):
    template <DraftContextHolder D, StopRule Stop>
    [[nodiscard]] no_draft begin(D& drafter, const Stop& stop, const draft_request& request) {
        if (request.again && !proposals_.empty())
            return continue_draft(context_, drafter, stop, drawn_, open_, path_);
        proposals_.clear();
        drawn_.clear();
        request_ = request;
        most_ = request.max_proposals < max_draft_ ? request.max_proposals : max_draft_;
        open_ = true;
        return begin_synced(context_, drafter, stop, most_, most_, map_.shared() > 0);
    }
    template <DraftContextHolder D, StopRule Stop>
    [[nodiscard]] draft_step request_row(D& drafter, const Stop& stop) const {
        if (!open_ || proposals_.size() == most_ || !stop.more(drawn_.progress()))
            return {};
        return {true, ask_for_row(drafter)};
    }
    template <DraftContextHolder D, StopRule Stop, Coin C>
        requires(Kept::template takes<D>)
    void draw(D& drafter, const Stop& stop, C& coin) {
        const std::size_t i = proposals_.size();
        open_ = kept_.keep(i, drafter, map_);
        if (!open_)
            return;
        const auto attempt = static_cast<std::uint32_t>(i);
        proposals_.push_back(proposal<law_type>::draw(
            law_type(kept_.law(i, request_.sampling), map_), coin,
            request_.round.site(purpose::draft, attempt, request_.place.value())));
        const target_id x = proposals_.back().token();
        request_.place.pass(x);
        // Not the drawn id, but the one that the text has: of ids with equal bytes the first.
        const draft_id d = x.valid() ? map_.to_draft(x) : draft_id{};
        open_ = x.valid() && !is_end(request_.end_ids, x) && !is_end(request_.draft_end_ids, d);
        kept_.note(drawn_, stop, i, d, proposals_.back().probability(), request_.sampling);
        if (open_)
            drafter.push(d);
    }
    [[nodiscard]] draft_view<law_type> drafted() const {
        return {proposals_, drawn_.tokens(), drawn_.steps(),
                proposals_.empty() ? no_draft::nothing_shared : no_draft::none};
    }
    [[nodiscard]] bool end_draft(no_draft why, draft_view<law_type>& draft) {
        if (drawn_.size() != proposals_.size()) // the stop rule threw at the last token
            return false;
        open_ = false;
        draft = proposals_.empty() ? draft_view<law_type>::nothing(why) : drafted();
        return true;
    }

private:
    token_bridge(Map map, Context context, std::size_t max_draft, Kept kept)
        : map_(map), context_(std::move(context)), max_draft_(max_draft), kept_(std::move(kept)) {
        require_sizes(context_, map.draft_size(), map.target_size(), "token bridge");
        proposals_.reserve(max_draft);
        drawn_.reserve(max_draft);
    }

    Map map_;
    Context context_;
    std::size_t max_draft_;
    Kept kept_;
    draft_request request_; // its place is that of the next token
    std::size_t most_ = 0;  // proposals of the round
    bool open_ = false;     // nothing drawn has ended the draft
    std::vector<proposal<law_type>> proposals_;
    drawn_draft drawn_;
    std::vector<draft_id> path_; // the context and what was drawn, where something threw
};

} // namespace specdec
