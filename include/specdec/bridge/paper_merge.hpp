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
#include <specdec/bridge/strings/merging.hpp>
#include <specdec/bridge/token/id_map_view.hpp>
#include <specdec/bridge/token/mapped_law.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

/// APPROXIMATE rules, as papers print them: they change the target's law. For comparison only.
namespace specdec::lossy {

/// OmniDraft, Eq. 2: the drafter's row at the first draft token d_1 of a proposal t, with
///
///     q'(t)   = prod_j q(d_j)            where d_1 .. d_n were merged into t
///     q'(d_1) = q(d_1) - prod_j q(d_j)   of that n-gram only
///     q'(x)   = q(x)                     otherwise
///
/// APPROXIMATE: drafting and scanning drew the token, and not from this law. (The prefix token d_1
/// loses an n-gram's mass only in rounds where that n-gram was drawn.) A view of the row.
class paper_merge_law {
public:
    using id_type = target_id;
    using row_law = mapped_law<softmax_law<draft_id>, id_map_view>;

    paper_merge_law(row_law row, target_id token, target_id prefix, double merged)
        : row_(std::move(row)), token_(token), prefix_(prefix), merged_(merged) {}

    [[nodiscard]] std::size_t size() const { return row_.size(); }
    [[nodiscard]] double probability(target_id t) const {
        if (merged_ < 0)
            return row_.probability(t);
        if (t == token_)
            return merged_;
        const double q = row_.probability(t);
        return t == prefix_ && t.valid() ? (q > merged_ ? q - merged_ : 0.0) : q;
    }
    template <UnitNumber U>
    [[nodiscard]] target_id at(U u) const {
        return row_.at(u);
    }
    /// The token that the draft gave.
    template <Coin C>
    [[nodiscard]] target_id draw(C&, draw_site) const {
        return token_;
    }

private:
    row_law row_;
    target_id token_;
    target_id prefix_;
    double merged_; ///< the n-gram's mass; negative: not merged
};

/// OmniDraft's Algorithm 1 with Eq. 1 and 2 as printed. APPROXIMATE above temperature 0
/// (tests/law/paper_merge.cpp: a total variation of 0.09 on average, up to 0.37, from the target);
/// ngram_merge_bridge is the exact form. Memory: one row a draft token, [max_draft, |D|]; a round
/// allocates nothing once grown.
template <class Cache, TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class paper_merge_bridge {
    using merging_type = merging<Cache, TargetTokenizer, DraftTokenizer>;

public:
    using law_type = paper_merge_law;
    static constexpr bridge_traits traits{.in_steps = true};

    paper_merge_bridge(merging_type f, const id_map& map,
                       retokenised_context<TargetTokenizer, DraftTokenizer> context,
                       std::size_t max_draft)
        : f_(std::move(f)), map_(map), context_(std::move(context)), max_draft_(max_draft),
          rows_(max_draft * map.draft_size()) {
        require_sizes(context_, map.draft_size(), map.target_size(), "paper merge bridge");
        proposals_.reserve(max_draft);
        drawn_.reserve(max_draft);
        laws_.reserve(max_draft);
    }

    void start(std::span<const draft_id> prefix) {
        context_.start(prefix);
        state_.tokens.clear();
    }
    void follow(std::span<const target_id> committed) {
        const std::size_t accepted = common_prefix<target_id>(state_.tokens, committed);
        state_.tokens.clear();
        f_.follow(committed, accepted);
        context_.follow(committed);
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
        proposals_.clear();
        drawn_.clear();
        laws_.clear();
        const decltype(state_) empty{};
        state_ = empty; // a copy keeps the memory
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
        const std::size_t i = drawn_.size(), size = map_.draft_size();
        const logits_row<draft_id> logits = next_row(drafter, size, "paper merge bridge");
        const std::span<float> row = std::span<float>(rows_).subspan(i * size, size);
        f_.prepare(state_, logits.values, row);
        open_ = any_allowed(row);
        if (!open_)
            return;
        if (laws_.size() > i) // of a draw that threw
            laws_.pop_back();
        laws_.push_back(make_law(logits_row<draft_id>{row}, request_.sampling));
        const draft_id d =
            coin.pick(request_.round.site(purpose::draft, static_cast<std::uint32_t>(i),
                                          request_.place.value()),
                      laws_.back());
        request_.place.pass(f_.bytes(d));
        open_ = f_.step(state_, d) && !is_end(request_.draft_end_ids, d);
        drawn_.push(stop, d, laws_.back().probability(d), row, row[d.index()], request_.sampling);
        drafter.push(d);
    }
    [[nodiscard]] draft_view<law_type> drafted() {
        f_.finish(state_);
        propose_merged(request_);
        return {proposals_, drawn_.tokens(), drawn_.steps(),
                proposals_.empty() ? no_draft::nothing_shared : no_draft::none};
    }
    [[nodiscard]] bool end_draft(no_draft why, draft_view<law_type>& draft) {
        return end_undrawn(drawn_.size() > 0, why, draft);
    }

private:
    void propose_merged(const draft_request& request) {
        std::size_t first = 0;
        proposals_.clear();
        for (std::size_t k = 0; k < state_.tokens.size(); ++k) {
            if (proposals_.size() == request.max_proposals)
                break;
            const std::size_t n = state_.parts[k];
            double product = n > 1 ? 1.0 : -1.0;
            for (std::size_t j = first; n > 1 && j < first + n; ++j)
                product *= laws_[j].probability(drawn_.tokens()[j]);
            unused_coin none;
            proposals_.push_back(proposal<law_type>::draw(
                law_type({laws_[first], id_map_view(map_)}, state_.tokens[k],
                         map_.to_target(drawn_.tokens()[first]), product),
                none, {}));
            first += n;
            if (is_end(request.end_ids, state_.tokens[k]))
                break;
        }
    }

    merging_type f_;
    const id_map& map_;
    retokenised_context<TargetTokenizer, DraftTokenizer> context_;
    std::size_t max_draft_;
    typename merging_type::state_type state_;
    std::vector<float> rows_; // [max_draft, |D|]
    std::vector<softmax_law<draft_id>> laws_;
    drawn_draft drawn_;
    std::vector<proposal<law_type>> proposals_;
    draft_request request_;      // its place is that of the next token
    bool open_ = false;          // nothing drawn has ended the draft
    std::vector<draft_id> path_; // the context and what was drawn, where something threw
};

} // namespace specdec::lossy
