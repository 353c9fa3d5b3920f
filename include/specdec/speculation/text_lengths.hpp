// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <specdec/decode/statistics.hpp>
#include <specdec/draft/acceptance_table.hpp>
#include <specdec/draft/length_rule.hpp>
#include <specdec/speculation/length_settings.hpp>

namespace specdec {

/// The stop rule of one text, whose predictions all texts of a rule teach. A round asks the table
/// as it was at its draft, and keeps that to its decision: what other texts learn meanwhile would
/// otherwise change where drafts end that a decision looks at, and with it the draft law. A round
/// that was not decided keeps it, too, as it keeps its draft.
///
///     lengths.offer()          what the next new round could draft, for a plan of the pass
///     lengths.share_pass(s)    how texts share the target's passes, from the next new round on
///     lengths.begin_draft_round()    before every draft
///     lengths.rule()           models StopRule
///     lengths.passed(pass)     after a pass that texts shared
///     lengths.learn(outcome, took)   behind a decision: teaches all texts
///     lengths.learn_nothing(emitted) in its place, where the drafter failed
///     lengths.end()            the text has ended: the next ones go on from its rule
///
/// Stays where it is. Borrows what all texts learn.
class text_lengths {
public:
    /// A rule that learns nothing, of drafts of `length` tokens.
    explicit text_lengths(std::size_t length) : rule_(fixed_length{length}) {}
    /// `prompt`: its tokens. `texts` share the target's passes.
    text_lengths(const length_settings& settings, std::size_t longest, learned_lengths& learned,
                 std::size_t prompt, std::size_t texts)
        : learned_(&learned), table_(learned.table),
          rule_(stop_rule_of(settings, longest, learned, table_)), sharing_(texts) {
        rule_.start(prompt);
        rule_.share_pass(sharing_);
        take_costs(); // so that no round makes a table longer
    }
    text_lengths(const text_lengths&) = delete; // the rule asks the table
    text_lengths& operator=(const text_lengths&) = delete;

    [[nodiscard]] const length_rule& rule() const { return rule_; }

    /// Nothing of a round that is drafted again, and of a rule that does not go by costs.
    [[nodiscard]] draft_offer offer() {
        if (learned_ == nullptr || round_)
            return {};
        take_learned();
        return rule_.offer();
    }
    /// How texts share the target's passes. A round that is drafted again is as it was.
    void share_pass(const pass_share& share) { sharing_ = share; }
    /// The target's pass of this round.
    void passed(const shared_pass& pass) { pass_ = pass; }

    /// Whether it is another one, not one that was not decided.
    bool begin_draft_round() {
        if (learned_ != nullptr && !round_) {
            take_learned();
            if (sharing_ != given_) {
                rule_.share_pass(sharing_);
                given_ = sharing_;
            }
        }
        pass_ = {};
        return !std::exchange(round_, true);
    }
    /// Whether this round drafts nothing, whatever the rule says: before its draft.
    void rest(bool resting) { rule_.rest(resting); }
    /// looked_up: proposals that no drafter made, or that cost beside its passes.
    void learn(const draft_outcome& outcome, round_seconds took = {}, std::size_t looked_up = 0) {
        if (learned_ != nullptr)
            take_table();
        rule_.learn(outcome);
        if (learned_ != nullptr && learned_->table.version() != table_.version())
            learned_->table = table_;
        if (learned_ != nullptr && learned_->follows)
            learn_costs(outcome, took, looked_up);
        round_ = false;
    }
    /// Behind the decision of a round whose drafter failed: it tells nothing of costs and
    /// acceptance.
    void learn_nothing(std::size_t emitted) {
        missed_ += static_cast<double>(emitted);
        round_ = false;
    }
    void end() {
        rule_.rest(false);
        if (learned_ != nullptr)
            learned_->last = rule_;
    }

private:
    /// What all texts have taught, unless this text knows it: copies of equal marks are the same.
    void take_table() {
        if (table_.version() != learned_->table.version())
            table_ = learned_->table;
    }
    void take_learned() {
        take_table();
        take_costs();
    }
    void take_costs() {
        if (learned_->follows)
            rule_.follow(learned_->costs.now(), learned_->balance.may_draft());
    }
    void learn_costs(const draft_outcome& o, round_seconds took, std::size_t looked_up) {
        cost_model& costs = learned_->costs;
        const bool drafted = o.forwards > 0;
        const std::size_t n = 1 + o.proposed;
        const auto texts = static_cast<double>(given_.texts); // that share this round's pass
        const auto share = [&](const cost_table& by, std::size_t positions) {
            return by.share_of_pass(static_cast<double>(positions), texts);
        };
        // Behind a drafter's pass a plain round is not what it is behind others: caches hold other
        // weights, and threads have slept.
        const bool usual = prompt_fed_ && (n > 1 || texts > 1 || !drafted_before_);
        // All texts of a pass tell of it; it counts once, and where none is fed again in it.
        const bool shared = pass_.positions > 0;
        const bool again = again_ || (texts > 1 && costs.measured().replay > 0);
        const bool counts =
            usual && !again &&
            !(shared && std::exchange(learned_->pass, pass_.number) == pass_.number);
        costs.learn({.pass = shared
                                 ? costs.measured().pass_over(static_cast<double>(pass_.positions))
                                 : share(costs.measured(), n),
                     .positions = shared      ? pass_.positions
                                  : texts > 1 ? 0
                                              : n,
                     .pass_counts = counts,
                     .rest = {.forwards = static_cast<double>(o.forwards),
                              .looked_up = static_cast<double>(looked_up),
                              .fed = drafted ? missed_ : 0},
                     .rest_counts = usual && (!drafted || drafter_fed_)},
                    {shared ? pass_.seconds : took.pass, took.rest});
        // In rounds of this text that draft nothing. Of a pass that texts share it answers for what
        // its own draft adds.
        const cost_table& now = costs.now();
        const double plain = share(now, 1);
        const auto all = static_cast<double>(pass_.positions);
        const double part =
            shared ? now.part_of_pass(static_cast<double>(n), all, texts) : share(now, n);
        const double pass = shared ? pass_.seconds * part / now.pass_over(all) : took.pass;
        const double expected = (part + now.draft_of(static_cast<double>(o.forwards)) +
                                 (drafted ? now.catch_up * missed_ : 0)) /
                                plain;
        const double rounds = costs.rounds_in(pass + took.rest) / plain;
        if (rounds > 0 && prompt_fed_ && (drafted || looked_up == 0)) // each its part of the pass
            learned_->balance.count(drafted, static_cast<double>(o.emitted) / texts,
                                    (rounds < 3 * expected ? rounds : 3 * expected) / texts);
        learned_->plain.count(drafted, rounds);
        again_ = costs.measured().replay > 0 && o.emitted <= o.proposed;
        prompt_fed_ = true;
        drafter_fed_ = drafter_fed_ || drafted;
        drafted_before_ = drafted;
        missed_ = drafted ? 0 : missed_ + static_cast<double>(o.emitted);
    }

    learned_lengths* learned_ = nullptr;
    acceptance_table table_; // as the round takes it
    length_rule rule_;
    bool round_ = false;                            // drafted, and not yet decided
    pass_share sharing_{};                          // of the passes, from the next new round on
    pass_share given_ = sharing_;                   // that the rule was told last
    shared_pass pass_{};                            // of this round
    bool prompt_fed_ = false, drafter_fed_ = false; // in a round before
    bool drafted_before_ = false;                   // in the last round
    bool again_ = false;                            // the target is fed again
    double missed_ = 0;                             // tokens that the drafter has not seen
};

} // namespace specdec
