// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/bridge/strings/drafted_text.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// String-level exact match: the drafter writes text with its whole vocabulary, the text is encoded
/// again in the target's vocabulary, aligned behind the committed tokens, and proposed as it is.
///
///     d_1 .. d_i := drawn from the drafter while the stop rule asks for more
///     t_1 .. t_m := T(d_1 + .. + d_i), realigned by look-behind where the tokenizer normalises
///
/// Paper: Timor et al. 2025, Alg. 2 and "Algorithm 2 Supports Non-Injective Tokenizers". The
/// proposals are one-hot: given the draft's text they are certain. Lossless with exact match (the
/// paper's verifier) and with token rejection. A control token ends the draft (drafted_text), and
/// so does a row that forbids every token. Memory and allocation: as drafted_text.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class slem_bridge {
public:
    using law_type = one_hot_law<target_id>;
    static constexpr bridge_traits traits{.in_steps = true};

    /// Borrows everything passed by reference.
    slem_bridge(const TargetTokenizer& target, const DraftTokenizer& draft, const id_map& map,
                std::size_t capacity, std::size_t max_draft)
        : draft_tokenizer_(draft), context_(target, draft, map, capacity),
          text_(target, draft, map, capacity, max_draft), max_draft_(max_draft) {
        drawn_.reserve(max_draft);
        proposals_.reserve(text_.most_bytes() + 1);
    }

    void start(std::span<const draft_id> prefix) {
        context_.start(prefix);
        text_.start();
    }
    void follow(std::span<const target_id> committed) {
        context_.follow(committed);
        text_.follow(committed);
    }
    [[nodiscard]] const auto& context() const { return context_; }
    [[nodiscard]] std::size_t target_size() const { return context_.target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return context_.draft_size(); }

    template <Drafter D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D& drafter, const Stop& stop, C& coin,
                                               const draft_request& request) {
        return draft_alone(*this, drafter, stop, coin, request);
    }

    // The same in steps (SteppedBridge):
    template <Drafter D, StopRule Stop>
    [[nodiscard]] no_draft begin(D& drafter, const Stop& stop, const draft_request& request) {
        if (request.again && drawn_.size() > 0)
            return continue_draft(context_, drafter, stop, drawn_, open_, path_);
        drawn_.clear();
        text_.clear();
        request_ = request;
        open_ = true;
        return begin_synced(context_, drafter, stop, request.max_proposals, max_draft_);
    }
    template <Drafter D, StopRule Stop>
    [[nodiscard]] draft_step request_row(D& drafter, const Stop& stop) const {
        if (!open_ || drawn_.size() == max_draft_ || !stop.more(drawn_.progress()))
            return {};
        return {true, ask_for_row(drafter)};
    }
    template <Drafter D, StopRule Stop, Coin C>
    void draw(D& drafter, const Stop& stop, C& coin) {
        const logits_row<draft_id> row = drafter.row();
        if (row.values.size() > draft_tokenizer_.vocabulary_size())
            fail("slem bridge", "drafter's row",
                 "expected at most " + std::to_string(draft_tokenizer_.vocabulary_size()) +
                     " logits, one for each id of its tokenizer, found " +
                     std::to_string(row.values.size()));
        open_ = any_allowed(row.values);
        if (!open_)
            return;
        const auto q = make_law(row, request_.sampling);
        const auto attempt = static_cast<std::uint32_t>(drawn_.size());
        const draft_id d =
            coin.pick(request_.round.site(purpose::draft, attempt, request_.place.value()), q);
        open_ = text_.push(d) && !is_end(request_.draft_end_ids, d);
        if (open_)
            request_.place.pass(draft_tokenizer_.bytes(d));
        drawn_.push(stop, d, q.probability(d), row.values, row.values[d.index()],
                    request_.sampling);
        if (open_)
            drafter.push(d);
    }
    /// The draft's text, encoded again.
    [[nodiscard]] draft_view<law_type> drafted() {
        proposals_.clear();
        for (const target_id t : text_.tokens(request_.max_proposals, request_.end_ids))
            proposals_.push_back(certain(t));
        return {proposals_, drawn_.tokens(), drawn_.steps(),
                proposals_.empty() ? no_draft::nothing_to_say : no_draft::none};
    }
    [[nodiscard]] bool end_draft(no_draft why, draft_view<law_type>& draft) {
        open_ = false;
        draft = drawn_.size() == 0 ? draft_view<law_type>::nothing(why) : drafted();
        return true;
    }

private:
    const DraftTokenizer& draft_tokenizer_;
    retokenised_context<TargetTokenizer, DraftTokenizer> context_;
    drafted_text<TargetTokenizer, DraftTokenizer> text_;
    std::size_t max_draft_;
    draft_request request_; // its place is that of the next draft token
    bool open_ = false;     // nothing drawn has ended the draft
    drawn_draft drawn_;
    std::vector<draft_id> path_; // the context and what was drawn, where something threw
    std::vector<proposal<law_type>> proposals_;
};

} // namespace specdec
