// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// Tokens a unit of cost of the last rounds, older ones fading: what a longer draft has to beat. It
/// begins as if a few rounds without a draft had been made. Looks at no clock.
class token_rate {
public:
    /// plain: what a round without a draft costs.
    explicit token_rate(double plain) : cost_(known_rounds * plain) {}

    /// A round gave so many tokens for that.
    void count(double tokens, double cost) {
        tokens_ = tokens_ * fading + tokens;
        cost_ = cost_ * fading + cost;
    }
    /// All rounds cost so many times what they did, those that were counted, too.
    void scale(double factor) { cost_ *= factor; }

    /// The rate, or that of rounds without a draft if it is higher.
    [[nodiscard]] double over(double plain) const {
        const double now = tokens_ / cost_;
        return now > 1 / plain ? now : 1 / plain;
    }

private:
    static constexpr double fading = 0.98, known_rounds = 8;
    double tokens_ = known_rounds, cost_;
};

} // namespace specdec
