// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/strings/spelling_weights.hpp>
#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

/// How far a spelling bridge may go.
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
/// from any law, and a law nearer to p is kept more often.
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
/// run again after each look. The final winner is the token that would have won had all spellings
/// been known, unless it was overlooked. The first row is restricted to draft tokens that begin a
/// spelling, then temperature, top-k and so on apply; further rows are not restricted. At
/// temperature 0 the likeliest shared token is proposed.
///
/// The proposals are one-hot, as SLEM's are: given the guess they are certain. Lossless with exact
/// match, coupled_match (what it is made for) and token rejection. Expected acceptance with a
/// coupled_coin: race_winner's for p and w / sum of w, less what is overlooked. The stop rule is
/// told the draft tokens so far and w of the last proposal.
///
/// Memory: 16 bytes a draft token and those of spelling_weights; a round allocates nothing. The
/// table is borrowed and may serve many bridges. Complexity: a pass over both vocabularies a draw.
template <class TargetTokenizer, class DraftTokenizer>
class spelling_bridge {
public:
    using law_type = one_hot_law<target_id>;
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
        require_size<draft_id>(spellings.draft_size(), context_.draft_size(), "spelling bridge",
                               "context");
        require_size<target_id>(spellings.target_size(), context_.target_size(), "spelling bridge",
                                "context");
        for (std::size_t d = 0; d < mask_.size(); ++d)
            mask_[d] =
                spellings.beginning_with(id_at<draft_id>(d)).empty() ? -builtin::infinity : 0;
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
        proposals_.clear();
        drawn_.clear();
        looks_ = draws_ = 0;
        const std::size_t most =
            request.max_proposals < limits_.max_draft ? request.max_proposals : limits_.max_draft;
        if (const no_draft why = begin_draft(context_, drafter, stop, most, longest_, longest_ > 0);
            why != no_draft::none)
            return draft_view<law_type>::nothing(why);

        begin_path();
        text_offset place = request.place;
        const bool greedy = request.sampling.temperature == 0;
        while (proposals_.size() < most && path_.size() + longest_ <= drafter.capacity() &&
               stop.more(drawn_.progress())) {
            const logits_row<draft_id> row =
                greedy ? row_behind(drafter, {}) : logits_row<draft_id>{};
            const target_id t =
                greedy ? likeliest_shared(row) : guess(drafter, coin, request, place);
            if (!t.valid())
                break;
            proposals_.push_back(certain(t));
            const std::span<const draft_id> spelling = spellings_->of(t);
            if (greedy) // one draft token
                drawn_.push(stop, spelling[0], 1.0, row.values, row.values[spelling[0].index()],
                            request.sampling);
            else
                push_guess(stop, spelling, static_cast<double>(w_.weights()[t.index()]));
            path_.insert(path_.end(), spelling.begin(), spelling.end());
            place.pass(t);
            if (is_end(request.end_ids, t))
                break;
        }
        return {proposals_, drawn_.tokens(), drawn_.steps(),
                proposals_.empty() ? no_draft::nothing_to_say : no_draft::none};
    }

private:
    /// A guess is kept or rejected whole, so all its draft tokens get its probability.
    template <class Stop>
    void push_guess(const Stop& stop, std::span<const draft_id> spelling, double q) {
        draft_progress now = extend_progress(drawn_.progress(), stop, spelling.back(), q, q, 0);
        for (const draft_id d : spelling) {
            now.token = d;
            drawn_.push(d, now);
            ++now.drafted;
        }
    }

    void begin_path() {
        const std::span<const draft_id> ids = context_.ids();
        if (context_.unchanged() < agreed_)
            agreed_ = context_.unchanged();
        path_.assign(ids.begin(), ids.end());
        context_.mark();
    }

    template <class D, class C>
    target_id guess(D& drafter, C& coin, const draft_request& request, const text_offset& place) {
        const std::span<const double> q = law_behind(drafter, {}, request.sampling);
        if (q.empty())
            return {};
        w_.begin(q);
        for (std::size_t looks = 0;; ++looks) {
            const target_id t = draw(coin, request, place);
            if (!t.valid() || w_.known(t))
                return t;
            if (looks == limits_.max_looks) {
                w_.forget_unknown();
                continue;
            }
            ++looks_;
            w_.look(t, law_behind(drafter, w_.beginning(t), request.sampling));
        }
    }

    template <class C>
    target_id draw(C& coin, const draft_request& request, const text_offset& place) {
        for (const float w : w_.weights())
            if (w > 0)
                return coin.pick(request.round.site(purpose::draft, draws_++, place.value()),
                                 dense_law(probabilities_row<target_id>{w_.weights()}));
        return {};
    }

    [[nodiscard]] target_id likeliest_shared(logits_row<draft_id> row) const {
        if (any_allowed(row.values))
            (void)make_law(row, {.temperature = 0}); // refuses what is no row
        target_id likeliest;
        float most = -builtin::infinity;
        for (std::size_t d = 0; d < row.size(); ++d) {
            const std::span<const target_id> tokens =
                spellings_->beginning_with(id_at<draft_id>(d));
            if (row.values[d] > most && !tokens.empty() && spellings_->of(tokens[0]).size() == 1) {
                most = row.values[d];
                likeliest = tokens[0];
            }
        }
        return likeliest;
    }

    /// The law of the draft token behind the path and a spelling's beginning; empty without mass.
    template <class D>
    std::span<const double> law_behind(D& drafter, std::span<const draft_id> beginning,
                                       const sampling_parameters& sampling) {
        logits_row<draft_id> row = row_behind(drafter, beginning);
        if (beginning.empty()) {
            for (std::size_t d = 0; d < mask_.size(); ++d)
                first_row_[d] = row.values[d] + mask_[d];
            row = {first_row_};
        }
        if (!any_allowed(row.values))
            return {};
        make_law(row, sampling).probabilities(0, q_);
        return q_;
    }

    template <class D>
    logits_row<draft_id> row_behind(D& drafter, std::span<const draft_id> beginning) {
        const std::size_t base = path_.size();
        path_.insert(path_.end(), beginning.begin(), beginning.end());
        drafter.sync(path_, agreed_);
        agreed_ = base;
        const logits_row<draft_id> row = next_row(drafter, mask_.size(), "spelling bridge");
        path_.resize(base);
        return row;
    }

    const canonical_spellings* spellings_;
    context_type context_;
    spelling_limits limits_;
    std::size_t longest_; ///< draft tokens of the longest spelling that may be guessed
    spelling_weights w_;
    std::vector<draft_id> path_;   ///< the drafter's context and the draft
    std::size_t agreed_ = 0;       ///< of it, what the drafter was synced to last
    std::vector<float> mask_;      ///< [|D|] 0 where a spelling begins, -infinity elsewhere
    std::vector<float> first_row_; ///< [|D|] masked
    std::vector<double> q_;        ///< [|D|]
    std::size_t looks_ = 0;
    std::uint32_t draws_ = 0;
    std::vector<proposal<law_type>> proposals_;
    drawn_draft drawn_;
};

} // namespace specdec
