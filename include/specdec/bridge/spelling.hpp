// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/bridge/context/vocabulary_sizes.hpp>
#include <specdec/bridge/strings/spelling_weights.hpp>
#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

struct spelling_limits {
    std::size_t max_draft = 8; ///< proposals of a round
    /// Drafter forwards of a proposal besides its first. A token of more than max_looks + 1 draft
    /// tokens is never guessed.
    std::size_t max_looks = 8;
    /// A guess, used until one of them is looked at: the share of a beginning's mass that all
    /// longer spellings with that beginning have together, in equal parts. A larger share overlooks
    /// fewer tokens and looks in vain more often; infinity overlooks none.
    double likely_rest = 0.5;
};

/// Errors: specdec::error for a guess that is none.
inline void validate(const spelling_limits& limits) {
    if (!(limits.likely_rest > 0))
        fail("spelling bridge", "likely_rest", "expected a number above 0");
}

/// Guesses tokens of the target's whole vocabulary: a token that the drafter lacks by the
/// probability that the drafter spells it (ours). Made for coupled sampling, where a guess may come
/// from any law.
///
///     while the stop rule asks for more:
///         w := what the drafter's next row tells of the spellings (see spelling_weights)
///         do   t ~ w
///              if w(t) is not known to its end: look, one draft token further, at all tokens that
///              begin like t
///         until w(t) is known;  propose t
///         the drafter's context := context + the spelling of t
///
/// All draws t ~ w of one proposal have the same place, so with a coupled_coin they are one race,
/// run again after each look: its last winner would have won with all spellings known, unless it
/// was overlooked. The first row is restricted to draft tokens that begin a spelling, then
/// temperature, top-k and so on apply; further rows are not restricted. At temperature 0 the
/// likeliest shared token is proposed.
///
/// The proposals are one-hot, as SLEM's are. Lossless with exact match, coupled_match and token
/// rejection. Expected acceptance with a coupled_coin: race_winner's for p and w / sum of w, less
/// what is overlooked. The stop rule is told the draft tokens so far and w of the last proposal.
///
/// Memory: 16 bytes a draft token and those of spelling_weights; a round allocates nothing. Borrows
/// the table, which may serve many bridges. Complexity: a pass over both vocabularies a draw.
template <class TargetTokenizer, class DraftTokenizer>
class spelling_bridge {
public:
    using law_type = one_hot_law<target_id>;
    static constexpr bridge_traits traits{.in_steps = true, .counts_forwards = true};
    using context_type = retokenised_context<TargetTokenizer, DraftTokenizer>;

    /// capacity: draft tokens of the longest context. Errors: specdec::error for limits out of
    /// range and where table and context are of different vocabularies.
    spelling_bridge(const canonical_spellings& spellings, context_type context,
                    std::size_t capacity, spelling_limits limits)
        : spellings_(&spellings), context_(std::move(context)), limits_(limits),
          longest_(spellings.longest() <= limits.max_looks ? spellings.longest()
                                                           : limits.max_looks + 1),
          w_(spellings, longest_, limits.likely_rest), mask_(spellings.draft_size()),
          first_row_(spellings.draft_size()), q_(spellings.draft_size()) {
        validate(limits);
        require_sizes(context_, spellings.draft_size(), spellings.target_size(), "spelling bridge");
        for (std::size_t d = 0; d < mask_.size(); ++d)
            if (spellings.beginning_with(id_at<draft_id>(d)).empty())
                mask_[d] = -builtin::infinity;
        path_.reserve(capacity + limits.max_draft * longest_);
        proposals_.reserve(limits.max_draft);
        drawn_.reserve(limits.max_draft * longest_);
    }

    spelling_bridge(const canonical_spellings&& gone_before_use, context_type, std::size_t,
                    spelling_limits) = delete;

    void start(std::span<const draft_id> prefix) { context_.start(prefix); }
    void follow(std::span<const target_id> committed) { context_.follow(committed); }
    [[nodiscard]] const context_type& context() const { return context_; }
    [[nodiscard]] std::size_t target_size() const { return context_.target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return context_.draft_size(); }
    /// Looks of the last round: drafter forwards besides one a guess.
    [[nodiscard]] std::size_t extra_forwards() const { return looks_; }

    template <Drafter D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D& drafter, const Stop& stop, C& coin,
                                               const draft_request& request) {
        return draft_alone(*this, drafter, stop, coin, request);
    }

    // The same in steps (SteppedBridge):
    template <Drafter D, StopRule Stop>
    [[nodiscard]] no_draft begin(D& drafter, const Stop& stop, const draft_request& request) {
        if (request.again && draws_ > 0) {
            drawn_.settle(stop);
            agreed_ = 0; // nobody knows how far the drafter was synced
            specdec::begin_draft_round(drafter, context_.ids().size());
            return no_draft::none;
        }
        proposals_.clear();
        drawn_.clear();
        looks_ = draws_ = 0;
        request_ = request;
        const std::size_t most = limits_.max_draft;
        most_ = request.max_proposals < most ? request.max_proposals : most;
        looked_at_ = {};
        open_ = true;
        if (const no_draft why =
                begin_draft(context_, drafter, stop, most_, longest_, longest_ > 0);
            why != no_draft::none)
            return why;
        if (context_.unchanged() < agreed_)
            agreed_ = context_.unchanged();
        path_.clear();
        append(context_.ids());
        base_ = path_.size();
        context_.mark();
        return no_draft::none;
    }
    template <Drafter D, StopRule Stop>
    [[nodiscard]] draft_step request_row(D& drafter, const Stop& stop) {
        path_.resize(base_);
        if (looked_at_.valid())
            append(w_.beginning(looked_at_));
        else if (!open_ || proposals_.size() == most_ || base_ + longest_ > drafter.capacity() ||
                 !stop.more(drawn_.progress()))
            return {};
        drafter.sync(path_, agreed_);
        agreed_ = base_;
        return {true, ask_for_row(drafter)};
    }
    template <Drafter D, StopRule Stop, Coin C>
    void draw(D& drafter, const Stop& stop, C& coin) {
        const logits_row<draft_id> row = next_row(drafter, mask_.size(), "spelling bridge");
        path_.resize(base_);
        const bool greedy = request_.sampling.temperature == 0;
        const target_id t = greedy ? likeliest_shared(*spellings_, row) : guess(row, coin);
        open_ = looked_at_.valid() || (t.valid() && !is_end(request_.end_ids, t));
        if (!t.valid())
            return;
        proposals_.push_back(certain(t));
        const std::span<const draft_id> spelling = spellings_->of(t);
        open_ = open_ && !is_end(request_.draft_end_ids, spelling.back());
        append(spelling);
        base_ = path_.size();
        request_.place.pass(t);
        if (greedy) { // one draft token
            drawn_.push(stop, spelling[0], 1, row.values, row.values[spelling[0].index()],
                        request_.sampling);
        } else { // kept or rejected whole, so all its draft tokens get its probability
            const auto q = static_cast<double>(w_.weights()[t.index()]);
            drawn_.push(stop, spelling, q, q, 0);
        }
    }
    [[nodiscard]] draft_view<law_type> drafted() const {
        return {proposals_, drawn_.tokens(), drawn_.steps(),
                proposals_.empty() ? no_draft::nothing_to_say : no_draft::none};
    }
    /// A token whose spellings were not all looked at is none yet, so only a draft of none is
    /// ended.
    [[nodiscard]] bool end_draft(no_draft why, draft_view<law_type>& draft) {
        return end_undrawn(draws_ > 0 || !proposals_.empty() || looked_at_.valid(), why, draft);
    }

private:
    void append(std::span<const draft_id> t) { path_.insert(path_.end(), t.begin(), t.end()); }

    /// The next proposal, with what the row tells of the spellings; invalid if there is none, and
    /// where looked_at_ says that another row has to be seen first.
    template <class C>
    target_id guess(logits_row<draft_id> row, C& coin) {
        if (looked_at_.valid()) {
            w_.look(looked_at_, law_of(row));
            looked_at_ = {};
        } else {
            for (std::size_t d = 0; d < mask_.size(); ++d)
                first_row_[d] = row.values[d] + mask_[d];
            const std::span<const double> q = law_of({first_row_});
            if (q.empty())
                return {};
            w_.begin(q);
            looks_left_ = limits_.max_looks;
        }
        for (;;) {
            const target_id t = draw_weighted(coin);
            if (!t.valid() || w_.known(t))
                return t;
            if (looks_left_ > 0 && may_look(w_.beginning(t))) {
                --looks_left_;
                ++looks_;
                looked_at_ = t;
                return {};
            }
            w_.forget_unknown();
        }
    }

    /// Whether the drafter may be asked after these draft tokens.
    [[nodiscard]] bool may_look(std::span<const draft_id> beginning) const {
        for (const draft_id d : beginning)
            if (is_end(request_.draft_end_ids, d))
                return false;
        return true;
    }

    template <class C>
    target_id draw_weighted(C& coin) {
        if (!w_.any())
            return {};
        const draw_site site =
            request_.round.site(purpose::draft, draws_++, request_.place.value());
        return coin.pick(site, dense_law(probabilities_row<target_id>{w_.weights()}));
    }

    std::span<const double> law_of(logits_row<draft_id> row) {
        if (!any_allowed(row.values))
            return {}; // without mass
        make_law(row, request_.sampling).probabilities(0, q_);
        return q_;
    }

    const canonical_spellings* spellings_;
    context_type context_;
    spelling_limits limits_;
    std::size_t longest_; ///< draft tokens of the longest spelling that may be guessed
    spelling_weights w_;
    draft_request request_;        ///< its place is that of the next proposal
    bool open_ = false;            ///< nothing drawn has ended the draft
    target_id looked_at_;          ///< invalid where a proposal begins
    std::vector<draft_id> path_;   ///< the drafter's context, the draft, and what is looked at
    std::size_t base_ = 0;         ///< of path_, without what is looked at
    std::size_t agreed_ = 0;       ///< of path_, what the drafter was synced to last
    std::vector<float> mask_;      ///< [|D|] 0 where a spelling begins, -infinity elsewhere
    std::vector<float> first_row_; ///< [|D|] masked
    std::vector<double> q_;        ///< [|D|]
    std::size_t most_ = 0, looks_ = 0, looks_left_ = 0; // proposals, looks, those of this proposal
    std::uint32_t draws_ = 0;
    std::vector<proposal<law_type>> proposals_;
    drawn_draft drawn_;
};

} // namespace specdec
