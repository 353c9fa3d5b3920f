// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/law_version.hpp>
#include <specdec/draft/acceptance_table.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/shared_rows.hpp>
#include <specdec/draft/token_rate.hpp>

namespace specdec {

/// Settings of profitable_length, the stop rule of automatic lengths.
struct profitable_length_settings {
    /// The most draft tokens of a draft.
    std::size_t longest = 16;
    /// The share of the time, from 0 to 1, that may go into drafts which only show whether drafting
    /// pays again. A fifth of it is used while drafting is far from paying.
    double probing = 0.013;
};

/// Drafts as long as that is expected to give the most tokens for the time: one more draft token
/// (or several) if
///
///     expected target tokens gained  >=  rate * what drafting and verifying them costs
///
/// where rate is the tokens a unit of cost of the last rounds, at least that of plain decoding: by
/// renewal theory the best rule has this form with its own rate, to which this one goes. If
/// speculation loses, nothing is drafted but probes, whose cost is bounded, that of feeding the
/// drafter what it missed included: where one is too dear, the text goes on without drafts, and the
/// next text tries. Where a rejection makes the target be
/// fed again what it kept (cost_table::replay), a draft has to gain that, too: the tokens of its
/// round, and those of rounds before that are part of no remembered state (checkpointed_model).
/// Costs come from a table of its own, chances from a predictor, both without a clock: the same
/// rounds and costs give the same lengths.
///
/// Models StopRule, LearnsLengths. One object for each text. Borrows the predictor; texts that take
/// turns share one only if it stands still between any text's draft and decision (a round is
/// refused where it does not). Allocates a copy of the table at construction.
template <AcceptancePredictor A>
class profitable_length {
public:
    static constexpr rule_traits traits{.reads = true, .predict = true, .learn = true};
    profitable_length(A& predictor, const cost_table& costs,
                      profitable_length_settings settings = {})
        : predictor_(&predictor), costs_(costs), settings_(settings), rate_(costs.pass_over(1)) {}

    /// A new text, whose prompt the drafter has not seen. What was learnt of the rate stays.
    void start(std::size_t prompt) {
        ++changes_;
        missed_ = static_cast<double>(prompt);
        again_ = 0;
        rounds_ = 0;
        plain_left_ = 0;
        next_ = probe::none;
        own_ = own_kept_ = 0;
    }
    /// How a pass of the target is shared from now on. By default a position costs its share of one
    /// in which all texts have as many, and what was learnt of the rate is that of rounds that are
    /// shared so. In a plan it costs what it adds to the pass, at the rate of all texts. Between
    /// rounds.
    void share_pass(const pass_share& share) {
        ++changes_;
        const double before = pass(1);
        share_ = share;
        rate_.scale(pass(1) / before);
    }
    /// What the next draft could have, for a plan of the pass that texts share.
    [[nodiscard]] draft_offer offer() const {
        draft_offer out{.costs = &costs_, .width = width(), .begin = begin(), .draft = drafting()};
        if (!may_draft_ || next_ == probe::plain)
            return out;
        const double first = own_first();
        const double later = (later_kept_ + own_known * first) / (later_ + own_known);
        double reached = first;
        for (; out.tokens < out.most && out.tokens < settings_.longest; ++out.tokens) {
            out.worth[out.tokens] = reached * out.width;
            reached *= later;
        }
        return out;
    }
    /// What rounds cost from the next draft on, as they have shown (cost_model), and whether
    /// drafts have a balance left (drafting_balance). It then makes rounds now and then that show
    /// more. The first call allocates room for all positions that costs are followed for.
    void follow(const cost_table& costs, bool may_draft) {
        ++changes_;
        costs_.reserve_as(costs);
        costs_ = costs;
        may_draft_ = may_draft;
        follows_ = true;
    }
    /// From the next draft on another predictor is asked.
    void ask(A& predictor) {
        changes_ += law_version{1} << 32; // more than marks count; the one before may be gone
        predictor_ = &predictor;
    }

    [[nodiscard]] row_reading reads() const { return reading_of(*predictor_); }
    [[nodiscard]] double predict(const draft_progress& now) const {
        return predictor_->accept(now);
    }
    [[nodiscard]] bool more(const draft_progress& now) const {
        if (now.drafted >= settings_.longest || !may_draft_ || next_ == probe::plain)
            return false;
        if (now.drafted == 0 && next_ == probe::draft)
            return true;
        if (share_.planned && !share_.drafts)
            return false;
        return outlook(now) >= (next_ == probe::longer ? 0.5 : 1);
    }

    [[nodiscard]] law_version version() const { return changes_ + predictor_->version(); }

    /// Tokens a unit of cost that a draft has to beat.
    [[nodiscard]] double rate() const {
        const double plain = pass(1);
        return !share_.planned           ? rate_.over(plain)
               : share_.rate * plain > 1 ? share_.rate
                                         : 1 / plain;
    }

    void learn(const draft_outcome& o) {
        ++changes_;
        count_own(o);
        teach(*predictor_, o);
        const auto drafted = static_cast<double>(o.steps.size());
        const bool rejected = costs_.replay > 0 && o.emitted <= o.proposed; // and fed again
        const bool apart = again_ > longest_replay;                         // in a pass of its own
        const double spent = pass(1 + static_cast<double>(o.proposed)) +
                             costs_.draft_of(static_cast<double>(o.forwards)) +
                             costs_.replay * again_ + (apart ? pass(1) : 0);
        again_ = rejected ? (apart ? 0 : again_) + static_cast<double>(o.emitted) : 0;
        ++rounds_;
        rate_.count(static_cast<double>(o.emitted), spent);
        if (drafted > 0) {
            proposed_ = proposed_ * fading + static_cast<double>(o.proposed);
            drafted_ = drafted_ * fading + drafted;
            forwards_ = forwards_ * fading + static_cast<double>(o.forwards);
            missed_ = 0;
            const double near = outlook({});
            near_ = near * near > 0.2 ? near * near : 0.2;
            if (next_ == probe::draft)
                credit_ = 0;
        } else {
            missed_ += static_cast<double>(o.emitted);
            credit_ += settings_.probing * near_ * spent;
        }
        plan(drafted > 0, o.proposed == 0, spent);
    }

private:
    static constexpr double fading = 0.98, default_rounds = 32, own_known = 8;
    static constexpr double longest_replay = 8; // in front of a pass, as of checkpointed_model
    static constexpr double showing = 0.004, first_shown = 2; // of the time; passes at first
    static constexpr std::size_t rarely = 4;                  // rounds from one to the next

    /// What the next round is for, beside the text: whether drafting pays again; where costs follow
    /// the rounds, what plain rounds take while all others draft, and a longer draft than pays.
    enum class probe : unsigned char { none, draft, plain, longer };

    /// What the next round is for, behind one that drafted or was plain.
    void plan(bool drafted, bool plain, double spent) {
        const probe was = next_;
        next_ = probe::none;
        ++since_;
        if (plain_left_ > 0) {
            --plain_left_;
            next_ = probe::plain;
            return;
        }
        if (follows_ && was != probe::plain)
            shown_ = least(shown_ + showing * spent, first_shown);
        if (plain)
            plain_turn_ = false;
        if (!drafted) {
            const double draft = costs_.draft_of(forwards_ / drafted_) + pass(2) - pass(1);
            // What seems dear may be measured wrongly, and the balance counts what it takes.
            const double price =
                costs_.catch_up * missed_ + (follows_ ? least(draft, pass(1)) : draft);
            const bool by_savings = follows_ && since_ >= rarely && shown_ >= price;
            if (was != probe::plain && (credit_ >= price || by_savings) && could_pay()) {
                next_ = probe::draft;
                shown_ -= credit_ >= price ? 0 : price;
                since_ = 0;
            }
        } else if (follows_ && since_ >= rarely) {
            const double price = plain_turn_ ? 3 * (pass(1) - 1 / rate()) : pass(1) / 4;
            if (shown_ >= price) {
                next_ = plain_turn_ ? probe::plain : probe::longer;
                plain_left_ = plain_turn_ ? 2 : 0; // the first one is as cold as a draft
                plain_turn_ = !plain_turn_;
                shown_ -= price;
                since_ = 0;
            }
        }
    }
    [[nodiscard]] static double least(double a, double b) { return a < b ? a : b; }

    [[nodiscard]] double pass(double n) const {
        const auto texts = static_cast<double>(share_.texts);
        if (!share_.planned)
            return costs_.share_of_pass(n, texts);
        return costs_.share_of_pass(1, texts) + costs_.pass_over(share_.others + n) -
               costs_.pass_over(share_.others + 1);
    }
    /// Target tokens a draft token.
    [[nodiscard]] double width() const { return proposed_ / drafted_; }
    /// What a draft token costs beside the target's pass.
    [[nodiscard]] double drafting() const { return costs_.draft * forwards_ / drafted_; }
    /// What a draft costs beside its tokens. It pays a share of what brings the drafter up to date:
    /// a text goes on for a while, and as long as it has.
    [[nodiscard]] double begin() const {
        return costs_.start + costs_.catch_up * missed_ / (default_rounds + rounds_);
    }
    /// The chance that a draft's first token is kept, in this text: what the predictor says counts
    /// for some tokens of its own. Texts differ, and in a plan they compete.
    [[nodiscard]] double own_first() const {
        return (own_kept_ + own_known * predictor_->next({})) / (own_ + own_known);
    }
    /// The chance that the next token is kept.
    [[nodiscard]] double next(const draft_progress& now) const {
        return share_.planned && now.drafted == 0 ? own_first() : predictor_->next(now);
    }
    void count_own(const draft_outcome& o) {
        const std::size_t decided = o.kept + (o.rejected && o.kept < o.steps.size() ? 1 : 0);
        for (std::size_t i = 0; i < decided; ++i) {
            double& tokens = i == 0 ? own_ : later_;
            double& kept = i == 0 ? own_kept_ : later_kept_;
            tokens = tokens * fading + 1;
            kept = kept * fading + (i < o.kept ? 1 : 0);
        }
    }
    /// Whether a draft would pay if all of it were kept: in a pass that is full none would, and
    /// what shows it is the pass. A text alone has to find out.
    [[nodiscard]] bool could_pay() const { return share_.texts == 1 || outlook({}, true) >= 1; }

    /// What the target is fed again for a draft all of which is kept with that chance, and of which
    /// so many tokens are on average.
    [[nodiscard]] double replay(double chance, double tokens) const {
        return costs_.replay * (1 - chance) * (again_ + 1 + tokens);
    }

    /// What some number of further draft tokens gains, in parts of what it costs at that rate: the
    /// best of them, 1 as soon as one is worth it. all_kept: if all of them were.
    [[nodiscard]] double outlook(const draft_progress& now, bool all_kept = false) const {
        const double width = this->width();
        const double draft = drafting();
        const auto n = static_cast<double>(now.drafted);
        const double least = rate(), before = pass(1 + width * n);
        const double feed = n > 0 ? 0 : begin();
        const double kept = n * width * now.kept, fed_again = replay(now.kept, kept);
        draft_progress ahead = now;
        double reached = now.kept, gain = 0, m = 1, best = 0;
        for (; best < 1 && ahead.drafted < settings_.longest; ++ahead.drafted, ++m) {
            reached *= all_kept ? 1 : next(ahead);
            gain += reached * width;
            const double cost = least * (feed + m * draft + pass(1 + width * (n + m)) - before +
                                         replay(reached, kept + gain) - fed_again);
            best = gain >= cost ? 1 : gain > best * cost ? gain / cost : best;
        }
        return best;
    }

    A* predictor_;
    cost_table costs_;
    profitable_length_settings settings_;
    pass_share share_{};
    token_rate rate_;                                  // of the last rounds
    double proposed_ = 8, drafted_ = 8, forwards_ = 8; // of those that drafted
    double again_ = 0;                                 // tokens that the next pass feeds again
    double missed_ = 0;                                // tokens that the drafter has not seen
    double rounds_ = 0;                                // of this text
    double credit_ = 0, near_ = 1;                     // saved for a probe; of what may be saved
    double own_ = 0, own_kept_ = 0;                    // first tokens of this text's drafts
    double later_ = 0, later_kept_ = 0;                // those behind them, whatever these were
    double shown_ = first_shown;                       // saved for rounds that show costs
    std::size_t since_ = 0, plain_left_ = 0;           // the last of those; plain ones to come
    bool follows_ = false, may_draft_ = true, plain_turn_ = true;
    probe next_ = probe::none;
    law_version changes_ = 0;
};

} // namespace specdec
