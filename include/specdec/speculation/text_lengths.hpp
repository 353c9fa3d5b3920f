// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/draft/acceptance_table.hpp>
#include <specdec/draft/length_rule.hpp>
#include <specdec/speculation/length_settings.hpp>

namespace specdec {

/// The stop rule of one text, whose predictions all texts of a rule teach. A round asks the table
/// as it was at its draft, and keeps that to its decision: what other texts learn meanwhile would
/// otherwise change where drafts end that a decision looks at, and with it the draft law. A round
/// that was not decided keeps it, too, so that it is drafted again as it was.
///
///     lengths.begin_round()    before every draft
///     lengths.rule()           models StopRule
///     lengths.learn(outcome, took)   behind a decision: teaches all texts
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
          rule_(stop_rule_of(settings, longest, learned, table_)),
          follows_(settings.kind == length_kind::automatic && !settings.costs),
          texts_(static_cast<double>(texts)) {
        rule_.start(prompt, texts);
    }
    text_lengths(const text_lengths&) = delete; // the rule asks the table
    text_lengths& operator=(const text_lengths&) = delete;

    [[nodiscard]] const length_rule& rule() const { return rule_; }

    void begin_round() {
        if (learned_ != nullptr && !round_) {
            table_ = learned_->table;
            if (follows_)
                rule_.draft_costs(learned_->drafts.now());
        }
        round_ = true;
    }
    void learn(const draft_outcome& outcome, round_seconds took = {}) {
        if (learned_ != nullptr)
            table_ = learned_->table;
        rule_.learn(outcome);
        if (learned_ != nullptr)
            learned_->table = table_;
        if (follows_ && usual_)
            learned_->drafts.learn(pass_over(1 + outcome.proposed), outcome.forwards, took);
        usual_ = outcome.forwards > 0;
        round_ = false;
    }
    void end() {
        if (learned_ != nullptr)
            learned_->last = rule_;
    }

private:
    /// This text's share of a pass in which each text has n positions.
    [[nodiscard]] double pass_over(std::size_t n) const {
        return learned_->costs.pass_over(static_cast<double>(n) * texts_) / texts_;
    }

    learned_lengths* learned_ = nullptr;
    acceptance_table table_; // as the round takes it
    length_rule rule_;
    bool round_ = false;   // drafted, and not yet decided
    bool follows_ = false; // the costs of rounds
    bool usual_ = false;   // no prompt to be fed in this round, and no drafter to be brought along
    double texts_ = 1;
};

} // namespace specdec
