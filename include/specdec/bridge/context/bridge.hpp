// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/bridge/context/draft_context.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/text_offset.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/law/parameters.hpp>

namespace specdec {

/// What a round asks of a bridge.
struct draft_request {
    round_name round{};                   ///< names the draft's draws
    std::size_t max_proposals = 0;        ///< the round has room for this many target tokens
    sampling_parameters sampling{};       ///< how the drafter's rows become the draft law q
    std::span<const target_id> end_ids{}; ///< proposing one of these ends the draft behind it
    text_offset place{}; ///< where the first drafted token begins, for coins that couple draws
    std::span<const draft_id> draft_end_ids{}; ///< drawing one of these ends the draft after it
    /// Something threw in the draft of this round, and it is asked for again (see Bridge).
    bool again = false;
};

/// A draft: proposals of target tokens, each with its law, and the draft tokens that they were made
/// from. Views into the bridge, which live until its next call.
template <class Law>
struct draft_view {
    std::span<const proposal<Law>> proposals;
    std::span<const draft_id> draft_tokens; ///< what the drafter drew, in its own vocabulary
    std::span<const draft_progress> steps;  ///< how the draft looked behind each of them
    no_draft reason = no_draft::none;       ///< why `proposals` is empty
    std::size_t looked_up = 0; ///< the first so many proposals are text that was seen before

    /// How many of the first n proposals are.
    [[nodiscard]] std::size_t looked_up_of(std::size_t n) const {
        return n < looked_up ? n : looked_up;
    }
    [[nodiscard]] static draft_view nothing(no_draft why) { return {{}, {}, {}, why}; }
};

[[nodiscard]] inline bool is_end(std::span<const target_id> end_ids, target_id id) {
    return is_one_of(end_ids, id);
}
[[nodiscard]] inline bool is_end(std::span<const draft_id> end_ids, draft_id id) {
    return is_one_of(end_ids, id);
}

/// Begins a draft, or says why there is none. Every bridge calls it before it touches drafter or
/// context. `none` means that the bridge drafts; a RoundAware drafter has then been told that the
/// round begins. room: target tokens that the bridge may propose; longest: draft tokens that it may
/// draw; shared: whether there is a token that it could propose. The context is asked last, as
/// asking may encode text.
template <DraftContext Context, DraftContextHolder D, StopRule Stop>
[[nodiscard]] no_draft begin_draft(const Context& context, D& drafter, const Stop& stop,
                                   std::size_t room, std::size_t longest, bool shared = true) {
    if (room == 0)
        return no_draft::no_room;
    if (!shared)
        return no_draft::nothing_shared;
    if (!stop.more(draft_progress{}))
        return no_draft::stop_rule;
    const std::size_t tokens = std::span<const draft_id>(context.ids()).size();
    if (tokens == 0)
        return no_draft::nothing_to_say;
    const std::size_t capacity = drafter.capacity();
    if (longest > capacity || tokens > capacity - longest)
        return no_draft::drafter_full;
    specdec::begin_draft_round(drafter, tokens);
    return no_draft::none;
}

/// The same for a bridge that drafts behind its context: the drafter is then synced with it.
template <DraftContext Context, DraftContextHolder D, StopRule Stop>
[[nodiscard]] no_draft begin_synced(Context& context, D& drafter, const Stop& stop,
                                    std::size_t room, std::size_t longest, bool shared = true) {
    const no_draft why = begin_draft(context, drafter, stop, room, longest, shared);
    if (why == no_draft::none) {
        drafter.sync(context.ids(), context.unchanged());
        context.mark();
    }
    return why;
}

/// The same for a draft that continues after something threw in it: the drafter is told of the
/// round and synced again, with the context and the tokens that were drawn after it. `path` holds
/// both, and lives until the end of the round. Allocates.
template <DraftContext Context, DraftContextHolder D>
void sync_again(Context& context, D& drafter, std::span<const draft_id> drawn,
                std::vector<draft_id>& path) {
    const std::span<const draft_id> ids = context.ids();
    specdec::begin_draft_round(drafter, ids.size());
    path.assign(ids.begin(), ids.end());
    path.insert(path.end(), drawn.begin(), drawn.end());
    drafter.sync(path, context.unchanged());
    context.mark();
}

/// begin() of a bridge whose draft continues (draft_request::again): the stop rule is asked for
/// tokens at which it threw and, if the draft is open, the drafter is synced with all of them.
template <DraftContext Context, DraftContextHolder D, StopRule Stop>
[[nodiscard]] no_draft continue_draft(Context& context, D& drafter, const Stop& stop,
                                      drawn_draft& drawn, bool open, std::vector<draft_id>& path) {
    drawn.settle(stop);
    if (open)
        sync_again(context, drafter, drawn.tokens(), path);
    return no_draft::none;
}

/// The drafter's next row. Errors: specdec::error that names the bridge, if the row has not one
/// logit for each of the map's `ids` draft ids.
template <Drafter D>
[[nodiscard]] logits_row<draft_id> next_row(D& drafter, std::size_t ids, const char* bridge) {
    const logits_row<draft_id> row = drafter.row();
    if (row.size() != ids)
        fail(bridge, "drafter's row",
             "expected " + std::to_string(ids) + " logits, one for each id of the map, found " +
                 std::to_string(row.size()));
    return row;
}

/// A bridge turns draws in the drafter's vocabulary D into proposals in the target's vocabulary T,
/// and committed target tokens into the drafter's context. It drives the drafter through the
/// concept Drafter, or ListingDrafter, and knows nothing of the verifier.
///
///     b.start(prefix)                 forget everything; the drafter's context begins with
///                                     `prefix` (its BOS, or nothing)
///     b.follow(tokens)                these target tokens were committed
///     b.propose(drafter, stop, coin, request)     one draft. Its laws may ask drafter and stop
///                                     rule again until the round ends, so both stay alive
///
/// Only start and follow change what the bridge remembers; an abandoned proposal leaves no trace.
///
/// A token is drawn once under one name. If something throws in propose() (or in a step,
/// SteppedBridge), the session asks again with request.again: the bridge then continues after what
/// it has drawn, keeps each drawn token with the law that it was drawn from, and takes nothing else
/// of the request. To draw again would be to draw from another law if what texts share has changed
/// meanwhile, with numbers that the failure may have depended on. If nothing was drawn, it begins
/// again. A bridge that draws nothing need not look at `again`.
///
/// What a bridge may have in addition it declares: bridge_traits.
///
/// A draft ends after the first of request.end_ids that it proposes, and after the first of
/// request.draft_end_ids that it draws: the drafter is not asked for a row after either.
///
/// Every draw of a draft token has that token's place in its site. A bridge copies request.place,
/// writes its value() into draw_site::place, and moves it behind the drawn token by pass() (of the
/// target token, or of the bytes) before it draws the next token.
template <class B, class D, class Stop, class C>
concept Bridge = DraftContextHolder<D> && StopRule<Stop> && Coin<C> &&
                 requires(B& b, D& drafter, const Stop& stop, C& coin, const draft_request& request,
                          std::span<const target_id> tokens, std::span<const draft_id> prefix) {
                     typename B::law_type;
                     b.start(prefix);
                     b.follow(tokens);
                     {
                         b.propose(drafter, stop, coin, request)
                     } -> std::same_as<draft_view<typename B::law_type>>;
                 };

} // namespace specdec
