// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/row_spread.hpp>

namespace specdec {

/// The draft tokens of a round in the order drawn, and what the stop rule saw behind each of them.
/// Allocates in reserve() only.
class drawn_draft {
public:
    void reserve(std::size_t most) {
        tokens_.reserve(most);
        steps_.reserve(most);
    }
    void clear() {
        tokens_.clear();
        steps_.clear();
    }

    [[nodiscard]] std::size_t size() const { return tokens_.size(); }
    [[nodiscard]] std::span<const draft_id> tokens() const { return tokens_; }
    /// [size()] after each token; the last ones are missing where settle() has to be called.
    [[nodiscard]] std::span<const draft_progress> steps() const { return steps_; }
    [[nodiscard]] draft_progress progress() const {
        return steps_.empty() ? draft_progress{} : steps_.back();
    }

    void push(draft_id d, const draft_progress& now) {
        tokens_.push_back(d);
        steps_.push_back(now);
    }
    /// These were drawn together, with probability q. They are noted before the stop rule is asked:
    /// if its prediction throws, they stay, and settle() asks again.
    template <StopRule S>
    void push(const S& stop, std::span<const draft_id> together, double q, double sure,
              double entropy) {
        tokens_.insert(tokens_.end(), together.begin(), together.end());
        last_ = q;
        sure_ = sure;
        entropy_ = entropy;
        settle(stop);
    }
    /// What the stop rule says of tokens at whose push it threw. No-op if there are none.
    template <StopRule S>
    void settle(const S& stop) {
        if (steps_.size() == tokens_.size())
            return;
        draft_progress now =
            extend_progress(progress(), stop, tokens_.back(), last_, sure_, entropy_);
        for (; steps_.size() < tokens_.size(); ++now.drafted) {
            now.token = tokens_[steps_.size()];
            steps_.push_back(now);
        }
    }
    /// d was drawn with probability q from a law of `row`, whose logit at d is `logit`. d may be
    /// invalid: a token that nobody can keep.
    template <StopRule S>
    void push(const S& stop, draft_id d, double q, std::span<const float> row, float logit,
              const sampling_parameters& sampling) {
        double sure = q, entropy = 0;
        const row_reading what = reading_of(stop);
        if (what == row_reading::entropy ||
            (what == row_reading::sureness && !is_plain(sampling))) {
            const row_spread spread(row, what);
            sure = spread.sureness(logit);
            entropy = spread.entropy;
        }
        push(stop, {&d, 1}, q, sure, entropy);
    }

private:
    std::vector<draft_id> tokens_;
    std::vector<draft_progress> steps_;
    double last_ = 1, sure_ = 1, entropy_ = 0; // of the tokens that were pushed last
};

} // namespace specdec
