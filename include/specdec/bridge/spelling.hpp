// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/bridge/draft_request.hpp>
#include <specdec/bridge/retokenised_context.hpp>
#include <specdec/core/error.hpp>
#include <specdec/sampling/dense_law.hpp>
#include <specdec/sampling/draw.hpp>
#include <specdec/sampling/softmax_law.hpp>
#include <specdec/vocab/canonical_spellings.hpp>

namespace specdec {

/// How far a spelling bridge may go.
struct spelling_limits {
    std::size_t max_draft = 8; ///< proposals of a round
    /// Drafter forwards of a proposal besides its first. A token of more than max_looks + 1 draft
    /// tokens is never guessed.
    std::size_t max_looks = 8;
    /// What the target tokens whose spellings begin alike are taken to have together of the mass of
    /// that beginning, in equal parts, until one of them is looked at. The more, the fewer are
    /// overlooked, and the more are looked at in vain; with infinity none is overlooked. On the
    /// small pair 0.5 took 0.22 looks a guess and 42.5 % were accepted, 2 took 0.74 and 43.4 %
    /// were; 40.2 % are without any.
    double likely_rest = 0.5;
};

/// Guesses over the target's whole vocabulary: a token that the drafter lacks is guessed by the
/// probability that the drafter spells it (ours). For coupled sampling, where a guess may come from
/// any law and the nearer to p the better.
///
///     w(t) = q(d_1 | context) ... q(d_n | context, d_1 .. d_{n-1}),  d_1 .. d_n the spelling of t
///
///     while the stop rule asks for more:
///         w(t) := q(d_1) where n = 1;  r q(d_1) where n > 1,
///                 r = min(1, likely_rest / (number of tokens whose spelling begins with d_1))
///         do   t ~ w
///              if w(t) is not known to its end: look, one draft token further, at all tokens that
///              begin like t
///         until w(t) is known;  propose t
///         the drafter's context := context + d_1 .. d_n
///
/// Every t ~ w of a proposal has one place, so with a coupled_coin all of them are one race, which
/// is run again after a look with what it has shown: the token that wins in the end is the one that
/// would have won had all spellings been known, unless it was overlooked.
///
/// The proposals are one-hot, as SLEM's are: given the guess nothing about them is random. Lossless
/// with exact match, coupled_match (what it is made for) and token rejection. Expected acceptance
/// with a coupled_coin: race_winner's for p and w. At temperature 0 it proposes what TLI does where
/// the likeliest draft token is shared. The stop rule is told the draft tokens so far and w(t) of
/// the last proposal.
///
/// Memory: 12 bytes a draft token and 8 a target token; a round allocates nothing. The table is
/// borrowed and may serve many bridges. Complexity: a pass over both vocabularies a draw.
template <class TargetTokenizer, class DraftTokenizer>
class spelling_bridge {
public:
    using law_type = one_hot_law<target_id>;
    using context_type = retokenised_context<TargetTokenizer, DraftTokenizer>;

    /// capacity: draft tokens of the longest context and a draft. Errors: specdec::error for limits
    /// out of range.
    spelling_bridge(const canonical_spellings& spellings, context_type context,
                    std::size_t capacity, spelling_limits limits)
        : spellings_(&spellings), context_(std::move(context)), limits_(limits),
          row_(spellings.draft_size()), q_(spellings.draft_size()), w_(spellings.target_size()),
          known_(spellings.target_size()),
          longest_(spellings.longest() < limits.max_looks ? spellings.longest()
                                                          : limits.max_looks + 1) {
        if (!(limits.likely_rest > 0))
            throw error("spelling bridge", "likely_rest", "expected a number above 0");
        path_.reserve(capacity + limits.max_draft * longest_);
        proposals_.reserve(limits.max_draft);
        draft_tokens_.reserve(limits.max_draft * longest_);
    }

    void start(std::span<const draft_id> prefix) { context_.start(prefix); }
    void follow(std::span<const target_id> committed) { context_.follow(committed); }
    [[nodiscard]] const context_type& context() const { return context_; }
    /// Drafter forwards of the last round besides one a proposal.
    [[nodiscard]] std::size_t extra_forwards() const { return looks_; }

    template <Drafter D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D& drafter, const Stop& stop, C& coin,
                                               const draft_request& request) {
        proposals_.clear();
        draft_tokens_.clear();
        looks_ = draws_ = 0;
        const std::size_t most =
            request.max_proposals < limits_.max_draft ? request.max_proposals : limits_.max_draft;
        if (const no_draft why = refusal(context_.ids(), drafter, stop, most, most * longest_,
                                         spellings_->longest() > 0);
            why != no_draft::none)
            return {{}, {}, why};

        begin_path();
        text_place place = request.place;
        double last = 1.0;
        while (proposals_.size() < most && stop.more(draft_tokens_.size(), last)) {
            if (!weigh(drafter, request.sampling))
                break;
            const target_id t = guess(drafter, coin, request, place);
            if (!t.valid())
                break;
            last = static_cast<double>(w_[t.index()]);
            proposals_.push_back(certain(t));
            const std::span<const draft_id> spelling = spellings_->of(t);
            draft_tokens_.insert(draft_tokens_.end(), spelling.begin(), spelling.end());
            path_.insert(path_.end(), spelling.begin(), spelling.end());
            place.pass(t);
            if (is_end(request.end_ids, t))
                break;
        }
        return {proposals_, draft_tokens_,
                proposals_.empty() ? no_draft::nothing_shared : no_draft::none};
    }

private:
    void begin_path() {
        const std::span<const draft_id> ids = context_.ids();
        if (context_.unchanged() < agreed_)
            agreed_ = context_.unchanged();
        path_.assign(ids.begin(), ids.end());
        context_.mark();
    }

    /// q_ := the law behind the path and `more`, over the draft tokens that begin a spelling (or
    /// over all). False: it has no mass.
    template <class D>
    bool read_row(D& drafter, std::span<const draft_id> more, const sampling_parameters& sampling,
                  bool beginnings_only) {
        const std::size_t base = path_.size();
        path_.insert(path_.end(), more.begin(), more.end());
        drafter.sync(path_, agreed_);
        agreed_ = base;
        const logits_row<draft_id> logits = drafter.row();
        path_.resize(base);
        if (logits.size() != row_.size())
            throw error("spelling bridge", "drafter's row",
                        "expected " + std::to_string(row_.size()) +
                            " logits, one for each id of the map, got " +
                            std::to_string(logits.size()));
        for (std::size_t d = 0; d < row_.size(); ++d)
            row_[d] = beginnings_only && spellings_->beginning_with(id_at<draft_id>(d)).empty()
                          ? -__builtin_inff()
                          : logits.values[d];
        if (!any_allowed(row_))
            return false;
        make_law(logits_row<draft_id>{row_}, sampling).probabilities(0, q_);
        return true;
    }

    /// w_ := what the first row tells.
    template <class D>
    bool weigh(D& drafter, const sampling_parameters& sampling) {
        if (!read_row(drafter, {}, sampling, true))
            return false;
        for (std::size_t i = 0; i < w_.size(); ++i) {
            const std::span<const draft_id> spelling = spellings_->of(id_at<target_id>(i));
            known_[i] = 1;
            const double q = spelling.empty() ? 0.0 : q_[spelling[0].index()];
            w_[i] = static_cast<float>(spelling.size() > 1 ? q * part(spelling[0]) : q);
        }
        return true;
    }

    template <class D, class C>
    target_id guess(D& drafter, C& coin, const draft_request& request, const text_place& place) {
        for (std::size_t looks = 0;; ++looks) {
            const target_id t = draw(coin, request, place);
            if (!t.valid() || known_[t.index()] == spellings_->of(t).size())
                return t;
            if (looks == limits_.max_looks)
                forget_unknown();
            else
                look(drafter, t, request.sampling);
        }
    }

    template <class C>
    target_id draw(C& coin, const draft_request& request, const text_place& place) {
        const target_id likeliest = argmax(logits_row<target_id>{w_});
        if (!likeliest.valid() || !(w_[likeliest.index()] > 0))
            return {};
        if (request.sampling.temperature == 0)
            return likeliest;
        return coin.pick({request.position, purpose::draft, draws_++, place.value()},
                         dense_law(probabilities_row<target_id>{w_}));
    }

    /// One draft token further into the spelling of t, and of all that begin as it does so far.
    template <class D>
    void look(D& drafter, target_id t, const sampling_parameters& sampling) {
        const std::size_t n = known_[t.index()];
        const std::span<const draft_id> beginning = spellings_->of(t).first(n);
        const double rest = part(beginning[0]);
        const double mass = static_cast<double>(w_[t.index()]) / rest;
        ++looks_;
        const bool any = read_row(drafter, beginning, sampling, false);
        for (const target_id x : spellings_->beginning_with(beginning[0])) {
            const std::span<const draft_id> spelling = spellings_->of(x);
            if (spelling.size() <= n || !begins_with(spelling, beginning))
                continue;
            known_[x.index()] = static_cast<std::uint32_t>(n + 1);
            const double w = any ? mass * q_[spelling[n].index()] : 0.0;
            w_[x.index()] = static_cast<float>(spelling.size() > n + 1 ? w * rest : w);
        }
    }

    /// Of a beginning's mass, what each token that goes on from it is taken to have.
    [[nodiscard]] double part(draft_id first) const {
        const double even =
            limits_.likely_rest / static_cast<double>(spellings_->beginning_with(first).size());
        return even < 1 ? even : 1.0;
    }

    /// Pre: tokens is not the shorter one.
    [[nodiscard]] static bool begins_with(std::span<const draft_id> tokens,
                                          std::span<const draft_id> beginning) {
        for (std::size_t i = 0; i < beginning.size(); ++i)
            if (tokens[i] != beginning[i])
                return false;
        return true;
    }

    void forget_unknown() {
        for (std::size_t i = 0; i < w_.size(); ++i)
            if (known_[i] < spellings_->of(id_at<target_id>(i)).size())
                w_[i] = 0;
    }

    const canonical_spellings* spellings_;
    context_type context_;
    spelling_limits limits_;
    std::vector<draft_id> path_;       ///< the drafter's context and the draft
    std::size_t agreed_ = 0;           ///< of it, what the drafter was synced to last
    std::vector<float> row_;           ///< [|D|]
    std::vector<double> q_;            ///< [|D|]
    std::vector<float> w_;             ///< [|T|]
    std::vector<std::uint32_t> known_; ///< [|T|] draft tokens of the spelling that w_ knows
    std::size_t longest_;              ///< draft tokens of the longest spelling that may be guessed
    std::size_t looks_ = 0;
    std::uint32_t draws_ = 0;
    std::vector<proposal<law_type>> proposals_;
    std::vector<draft_id> draft_tokens_;
};

} // namespace specdec
