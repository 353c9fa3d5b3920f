// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/strings/possible_drafts.hpp>
#include <specdec/bridge/strings/prefix_mass.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/text_offset.hpp>
#include <specdec/sampling/drawn_draft.hpp>

namespace specdec {

/// The law of a bridge: drawing d from the drafter and proposing f(d) is sampling from
///
///     q(t | t_1 .. t_{j-1}) = Q(t_1 .. t_{j-1} t) / Q(t_1 .. t_{j-1})
///
/// which sums to less than 1 where a draft may end: that is proposed as an invalid token, which can
/// only be rejected (docs/understand/design.md). Holds one draft, drawn as far as was asked for,
/// and the bounds of Q along it; decides lazily, but exactly.
template <Translation F>
class pushforward {
    using tree_type = possible_drafts<F>;
    using state_type = typename F::state_type;

public:
    pushforward(F f, std::size_t capacity) : tree_(std::move(f), capacity) {}
    [[nodiscard]] const F& translation() const { return tree_.translation(); }
    void start() {
        drawn_.clear();
        tree_.translation().start();
    }
    /// Tokens were committed: the first of them may be the last draft's.
    void follow(std::span<const target_id> committed) {
        const std::size_t accepted = common_prefix<target_id>(drawn_, committed);
        drawn_.clear();
        tree_.translation().follow(committed, accepted);
    }

    /// A new draft: see possible_drafts::begin. `most`: no more target tokens will be asked for.
    void begin(const draft_source& source, std::span<const draft_id> context, std::size_t unchanged,
               const sampling_parameters& sampling, std::size_t max_draft, double lightest,
               std::size_t most, text_offset place = {}) {
        tree_.begin(source, context, unchanged, sampling, max_draft, lightest);
        if (along_.size() < most + 1)
            along_.resize(most + 1);
        known_ = 0;
        proposed_ = 0;
        asked_ = none;
        drawn_forwards_ = 0;
        place_ = place;
        drawn_.clear();
        drawn_draft_.clear();
        node_ = 0;
        mass_ = 1;
        state_ = tree_.state(0);
        if (tree_.has_first_row() && !tree_.has_law(0))
            end();
    }

    /// Behind begin(), unless grow() does it: needed before probabilities are asked for.
    void take_first_row() {
        if (tree_.has_first_row())
            return;
        tree_.take_first_row();
        drawn_forwards_ = 1;
        if (!tree_.has_law(0))
            end();
    }

    /// The drafter and the stop rule of a draft that goes on.
    void ask(const draft_source& source) { tree_.ask(source); }
    /// Errors: specdec::error where the law may be another one than it was with its first row.
    void require_unchanged() const { tree_.require_unchanged(); }
    /// The draft as far as it is drawn.
    [[nodiscard]] const drawn_draft& drawn() const { return drawn_draft_; }
    /// Drafter forwards of this round that the drawn draft itself did not need.
    [[nodiscard]] std::size_t extra_forwards() const { return tree_.forwards() - drawn_forwards_; }
    /// Whether drafting took one forward less, as the last round saw its first row.
    [[nodiscard]] bool first_row_known() const { return tree_.first_row_known(); }

    /// Whether it is known which target token is j, or that the draft has ended before.
    [[nodiscard]] bool settled(std::size_t j) const {
        return state_.tokens.size() > j || node_ == none;
    }
    /// What grow() asks of the drafter.
    [[nodiscard]] draft_step request_row() {
        if (node_ == none)
            return {};
        if (!tree_.has_first_row())
            return {true, tree_.request_row(0)};
        if (needs_row())
            return {true, tree_.request_row(node_, drawn_draft_.tokens().back())};
        return {true, nullptr};
    }
    /// Draws the next draft token, or ends the draft. Precondition: it has not ended.
    template <Coin C>
    void grow(C& coin, draw_site site) {
        if (!tree_.has_first_row())
            take_first_row();
        else if (needs_row())
            take_row();
        if (node_ == none)
            return;
        if (!tree_.has_law(node_))
            return end();
        site.attempt = static_cast<std::uint32_t>(drawn_draft_.size());
        site.place = place_.value();
        const draft_id d = coin.pick(site, tree_.law(node_));
        // If stop rule or f throws, nothing has changed, and d is drawn again from the same law.
        const draft_progress now = tree_.progress_behind(node_, d);
        const double mass = mass_ * tree_.law(node_).probability(d);
        const bool goes_on = tree_.step(node_, d, mass, next_);
        place_.pass(translation().bytes(d));
        drawn_draft_.push(d, now);
        mass_ = mass;
        std::swap(state_, next_);
        node_ = goes_on ? node_ : none;
    }

    /// Draws target token j given the j before it: draft tokens until f has settled it. Invalid
    /// where the draft ends before. Sites: (position, draft, 0 .. draft tokens).
    template <Coin C>
    [[nodiscard]] target_id draw(std::size_t j, C& coin, draw_site site) {
        proposed_ = j + 1;
        while (!settled(j))
            grow(coin, site);
        const target_id t = j < state_.tokens.size() ? state_.tokens[j] : target_id{};
        if (t.valid() && drawn_.size() == j)
            drawn_.push_back(t);
        return t;
    }

    /// q(t | the first j tokens drawn), refined fully.
    [[nodiscard]] double probability(std::size_t j, target_id t) {
        if (!t.valid())
            return 0.0;
        prefix_mass<F>& part = mass_of(j, t);
        while (!part.exact())
            part.refine(tree_);
        if (j == 0)
            return part.low();
        prefix_mass<F>& whole = mass_of_drawn(j);
        while (!whole.exact())
            whole.refine(tree_);
        return whole.low() > 0 ? part.low() / whole.low() : 0.0;
    }

    /// Whether probability(j, t) < bound, looking no further than that takes.
    template <class B>
    [[nodiscard]] bool below(std::size_t j, target_id t, B bound) {
        if (!(bound > 0))
            return false;
        if (bound > 1)
            return true;
        prefix_mass<F>& part = mass_of(j, t);
        prefix_mass<F>* const whole = j == 0 ? nullptr : &mass_of_drawn(j);
        for (;;) {
            const double low = whole ? whole->low() : 1.0, high = whole ? whole->high() : 1.0;
            if (part.high() < bound * low)
                return true;
            if (part.low() >= bound * high && high > 0)
                return false;
            const bool whole_is_exact = whole == nullptr || whole->exact();
            if (part.exact() && whole_is_exact)
                return part.low() < bound * low;
            if (whole_is_exact || (!part.exact() && part.open() >= bound * whole->open()))
                part.refine(tree_);
            else
                whole->refine(tree_);
        }
    }

    /// Whether nothing was asked for behind token j, not even the draft's end.
    [[nodiscard]] bool is_last(std::size_t j) const { return j + 1 == proposed_; }
    /// True for a share min(1, p / probability(j, t)) of u in [0, 1) and of the ways to draw t, the
    /// drawn token j: the drafts that Q sums, side by side in a fixed order, are a line, the drawn
    /// one and u a uniform point of it, and only what lies before need be known, most often
    /// nothing. Pre: is_last(j), as a later token depends on the way, too.
    template <UnitNumber U>
    [[nodiscard]] bool keeps(std::size_t j, double p, U u) {
        prefix_mass<F>* const whole = j == 0 ? nullptr : &mass_of_drawn(j);
        asked_ = none;
        aside_.begin(translation(), std::span<const target_id>(drawn_).first(j), drawn_[j]);
        const U point = u * aside_.stop_before(tree_, drawn_draft_.tokens());
        for (;;) {
            if (point < (whole ? whole->low() : 1.0) * p - aside_.high())
                return true;
            if (!(point < (whole ? whole->high() : 1.0) * p - aside_.low()))
                return false;
            const bool wider = whole && (aside_.exact() || aside_.open() < p * whole->open());
            (wider ? *whole : aside_).refine(tree_);
        }
    }

private:
    static constexpr std::size_t none = tree_type::none;
    /// Q of the first j >= 1 drawn tokens.
    prefix_mass<F>& mass_of_drawn(std::size_t j) {
        for (; known_ < j; ++known_)
            along_[known_ + 1].begin(
                translation(), std::span<const target_id>(drawn_).first(known_), drawn_[known_]);
        return along_[j];
    }
    /// Q of the first j drawn tokens and t.
    prefix_mass<F>& mass_of(std::size_t j, target_id t) {
        if (j < drawn_.size() && drawn_[j] == t)
            return mass_of_drawn(j + 1);
        if (asked_ != j || asked_token_ != t) {
            aside_.begin(translation(), std::span<const target_id>(drawn_).first(j), t);
            asked_ = j;
            asked_token_ = t;
        }
        return aside_;
    }

    /// Whether the drawn draft has gone on to where no row was needed yet.
    [[nodiscard]] bool needs_row() const { return tree_.depth(node_) < drawn_draft_.size(); }
    void take_row() {
        const std::size_t before = tree_.forwards();
        node_ = tree_.behind(node_, drawn_draft_.tokens().back(), mass_, state_);
        drawn_forwards_ += tree_.forwards() - before;
    }

    void end() {
        next_ = state_;
        tree_.translation().finish(next_);
        std::swap(state_, next_);
        node_ = none;
    }

    tree_type tree_;
    std::vector<prefix_mass<F>> along_; // [j]: of the first j drawn tokens
    std::size_t known_ = 0;             // of them begun this round
    std::size_t proposed_ = 0;          // target tokens asked for, the draft's end too
    prefix_mass<F> aside_;              // of the token asked for last
    std::size_t asked_ = none;
    target_id asked_token_;
    std::vector<target_id> drawn_;
    drawn_draft drawn_draft_;
    std::size_t node_ = 0;           // where the drawn draft goes on; none: it has ended
    std::size_t drawn_forwards_ = 0; // that drawing took
    double mass_ = 1;                // of the drawn draft
    text_offset place_;              // where its next token begins
    state_type state_, next_;        // of the drawn draft, and scratch
};

} // namespace specdec
