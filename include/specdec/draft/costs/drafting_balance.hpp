// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// What drafts have gained and lost in the end: tokens that rounds with a draft gave, less what
/// plain rounds would have given in their time. It begins with a few tokens that drafts may lose,
/// gains are kept up to twice as many, and each plain round adds a share of itself; nothing is
/// drafted where nothing is left. So drafts lose at most those few tokens, that share of the time
/// and one round.
class drafting_balance {
public:
    [[nodiscard]] bool may_draft() const { return left_ > 0; }

    /// A round gave so many tokens, and took as long as `rounds` plain ones.
    void count(bool drafted, double tokens, double rounds) {
        left_ += drafted ? tokens - rounds : share * rounds;
        left_ = left_ < most ? left_ : most;
    }

private:
    static constexpr double first = 4, most = 8, share = 0.015;
    double left_ = first;
};

} // namespace specdec
