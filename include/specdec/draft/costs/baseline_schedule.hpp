// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace specdec {

/// When texts that draft in every round make plain ones, which show what these take: three in a
/// row, of which the first finds the drafter's weights in the caches. They may cost a share of the
/// time, and a few passes at first. Looks at no clock.
class baseline_schedule {
public:
    /// Whether the next round is to be plain.
    [[nodiscard]] bool now() const { return left_ > 0; }

    /// A round took as long as `rounds` plain ones.
    void count(bool drafted, double rounds) {
        if (left_ > 0) {
            --left_;
            return;
        }
        if (!drafted)
            return;
        ++since_;
        saved_ = saved_ + share * rounds < first ? saved_ + share * rounds : first;
        if (since_ < rarely || saved_ < price)
            return;
        left_ = in_a_row;
        saved_ -= price;
        since_ = 0;
    }

private:
    static constexpr double share = 0.005, first = 2, price = 1.5; // passes over one position
    static constexpr std::size_t rarely = 4, in_a_row = 3;
    double saved_ = first;
    std::size_t since_ = 0, left_ = 0; // drafting rounds since; plain ones to come
};

} // namespace specdec
