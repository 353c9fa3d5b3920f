// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/draft/draft_outcome.hpp>

namespace specdec {

/// Two draft tokens more after a draft that was wholly kept, one less after another: the schedule
/// of Transformers' assisted generation, here counted in the drafter's vocabulary whatever the
/// target's. Models StopRule, LearnsLengths. One object for each text.
class heuristic_length {
public:
    static constexpr rule_traits traits{.learn = true};
    explicit heuristic_length(std::size_t first = 5, std::size_t most = 20)
        : length_(first), most_(most) {}

    [[nodiscard]] std::size_t length() const { return length_; }
    [[nodiscard]] bool more(const draft_progress& now) const { return now.drafted < length_; }
    [[nodiscard]] law_version version() const { return version_of_values(length_); }
    void learn(const draft_outcome& o) {
        if (o.steps.empty())
            return;
        const std::size_t up = length_ + 2 < most_ ? length_ + 2 : most_;
        length_ = o.kept == o.steps.size() ? up : length_ > 1 ? length_ - 1 : 1;
    }

private:
    std::size_t length_;
    std::size_t most_;
};
static_assert(LearnsLengths<heuristic_length>);

} // namespace specdec
