// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/bridge/context/vocabulary_sizes.hpp>
#include <specdec/bridge/token/nested_law.hpp>
#include <specdec/core/basic/builtins.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/law/weighted_row.hpp>
#include <specdec/vocab/spelling/pieces.hpp>

namespace specdec {

/// Nested token-level intersection: the drafter keeps its whole vocabulary, and a draft token that
/// the target lacks is proposed as the target tokens that spell it (ours).
///
///     while the stop rule asks for more:
///         q := law of the drafter's next row, over the draft tokens that have pieces
///         R := all of them
///         do  v ~ the next piece of d ~ q in R;  propose (v, its law)
///             R := those of R that go on with v
///             reveal whether d ends behind v, with probability q(ends there) / q(R)
///         while it goes on
///         the drafter's context := context + d
///
/// Pieces and reveals together have the law of f(d), d ~ q; why p(v) / q(v) decides without the
/// reveals: docs/rules/nested.md. Lossless with every verifier, block verification included. If all
/// tokens are shared it is TLI. Only draft tokens without pieces lose their mass; those that a
/// table leaves out are treated as by TLI.
///
/// Room or an end token may cut a draft inside a draft token, which is then an invalid id in
/// draft_tokens. The stop rule is asked before every draft token and sees the probability of the
/// last one (of all draft tokens with its pieces).
///
/// Sites: the i-th proposal of a round draws at its (purpose::draft, 2 i), the reveal behind it at
/// 2 i + 1. Memory: one row a draft token ([max_draft, pieces.size()] floats), allocated at
/// construction; a round allocates nothing. Borrows the table, which may serve many bridges.
template <class TargetTokenizer, class DraftTokenizer>
class nested_tli_bridge {
public:
    using law_type = nested_law;
    static constexpr bridge_traits traits{.in_steps = true};
    using context_type = retokenised_context<TargetTokenizer, DraftTokenizer>;

    /// At most max_draft draft tokens, and max_proposals proposals, a round. Errors: specdec::error
    /// where table and context are of different vocabularies.
    nested_tli_bridge(const token_pieces& pieces, context_type context, std::size_t max_draft,
                      std::size_t max_proposals = 16)
        : pieces_(&pieces), context_(std::move(context)), max_draft_(max_draft),
          max_proposals_(max_proposals), rows_(max_draft * pieces.size()) {
        require_sizes(context_, pieces.draft_size(), pieces.target_size(), "nested tli bridge");
        proposals_.reserve(max_proposals);
        drawn_.reserve(max_draft);
    }

    nested_tli_bridge(const token_pieces&& gone_before_use, context_type, std::size_t,
                      std::size_t = 16) = delete;

    void start(std::span<const draft_id> prefix) { context_.start(prefix); }
    void follow(std::span<const target_id> committed) { context_.follow(committed); }
    [[nodiscard]] const context_type& context() const { return context_; }
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
        if (request.again && !proposals_.empty())
            return continue_draft(context_, drafter, stop, drawn_, open_, path_);
        proposals_.clear();
        drawn_.clear();
        request_ = request;
        room_ = request.max_proposals < max_proposals_ ? request.max_proposals : max_proposals_;
        most_ = room_ < max_draft_ ? room_ : max_draft_;
        open_ = true;
        return begin_synced(context_, drafter, stop, most_, most_, pieces_->size() > 0);
    }
    template <Drafter D, StopRule Stop>
    [[nodiscard]] draft_step request_row(D& drafter, const Stop& stop) const {
        if (!open_ || drawn_.size() == most_ || proposals_.size() == room_ ||
            !stop.more(drawn_.progress()))
            return {};
        return {true, ask_for_row(drafter)};
    }
    template <Drafter D, StopRule Stop, Coin C>
    void draw(D& drafter, const Stop& stop, C& coin) {
        const logits_row<draft_id> logits =
            next_row(drafter, pieces_->draft_size(), "nested tli bridge");
        const std::span<float> row{rows_.data() + drawn_.size() * pieces_->size(), pieces_->size()};
        pieces_->gather(logits.values, row);
        open_ = any_allowed(row);
        if (!open_)
            return;
        const auto [entry, q] =
            propose_token(weighted_row(row, request_.sampling, side_of<draft_id>()), coin);
        const draft_id d = entry < row.size() ? pieces_->entry(entry) : draft_id{};
        open_ = d.valid() && !is_end(request_.end_ids, proposals_.back().token()) &&
                !is_end(request_.draft_end_ids, d);
        drawn_.push(stop, d, q, row, d.valid() ? row[entry] : -builtin::infinity,
                    request_.sampling);
        if (open_)
            drafter.push(d);
    }
    [[nodiscard]] draft_view<law_type> drafted() const {
        return {proposals_, drawn_.tokens(), drawn_.steps(),
                proposals_.empty() ? no_draft::nothing_shared : no_draft::none};
    }
    /// Pieces that are no whole token yet cannot be dropped, so only a draft of none is ended.
    [[nodiscard]] bool end_draft(no_draft why, draft_view<law_type>& draft) {
        return end_undrawn(!proposals_.empty() || drawn_.size() > 0, why, draft);
    }

private:
    struct drawn_entry {
        std::size_t place; ///< index in the table; outside it if the token was cut
        double q;
    };
    /// Proposes the pieces of one draft token d ~ q, as many as there is room for. Returns d and
    /// q(d), or 0 for q(d) if d was cut.
    template <class C>
    drawn_entry propose_token(const weighted_row& q, C& coin) {
        piece_range pending = pieces_->all();
        for (double mass = 1.0;;) {
            const auto attempt = static_cast<std::uint32_t>(2 * proposals_.size());
            proposals_.push_back(proposal<law_type>::draw(
                nested_law(q, *pieces_, pending, mass), coin,
                request_.round.site(purpose::draft, attempt, request_.place.value())));
            const target_id v = proposals_.back().token();
            request_.place.pass(v);
            const piece_range drawn = pieces_->with_next(pending, v);
            pending = pieces_->longer(drawn);
            const double ended = nested_law::sum(q, {drawn.begin, pending.begin, drawn.depth});
            mass = nested_law::sum(q, pending);
            if (coin.flip(request_.round.site(purpose::draft, attempt + 1),
                          ended / (ended + mass))) {
                return {drawn.begin, ended};
            }
            if (proposals_.size() == room_ || is_end(request_.end_ids, v))
                return {pieces_->size(), 0};
        }
    }

    const token_pieces* pieces_;
    context_type context_;
    std::size_t max_draft_;
    std::size_t max_proposals_;
    draft_request request_;   // its place is that of the next proposal
    std::size_t room_ = 0;    // proposals of the round
    std::size_t most_ = 0;    // and its draft tokens
    bool open_ = false;       // nothing drawn has ended the draft
    std::vector<float> rows_; // [max_draft, entries]
    std::vector<proposal<law_type>> proposals_;
    drawn_draft drawn_;
    std::vector<draft_id> path_; // the context and what was drawn, where something threw
};

} // namespace specdec
