// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/costs/round_line.hpp>

namespace specdec {

/// The median; 0 of nothing. It counts instead of sorting, which the core does not include.
[[nodiscard]] inline double median_of(std::span<const double> numbers) {
    const std::size_t middle = numbers.size() / 2;
    for (const double x : numbers) {
        std::size_t below = 0, to_here = 0;
        for (const double other : numbers) {
            below += other < x ? 1U : 0U;
            to_here += other <= x ? 1U : 0U;
        }
        if (below <= middle && middle < to_here)
            return x;
    }
    return 0;
}

/// What a round took, in seconds; 0 where nobody measured.
struct round_seconds {
    double pass = 0; ///< the target's, or this text's share of it
    double rest = 0; ///< drafter, bridge and decision
};

/// What a round was made of.
struct timed_round {
    double pass = 1;           ///< what the table that was measured says of the target's
    std::size_t positions = 1; ///< in it; 0: not known, others were in it, too
    bool pass_counts = true;   ///< no prompt was fed in it, and nothing again
    round_line::parts rest{};
    bool rest_counts = true; ///< its parts are known
};

/// What rounds cost, learnt from those that texts make. It begins with the table that was measured.
///
/// Passes: for each number n of positions a factor, by which a pass takes longer than that table
/// says: the mean over its rounds, older ones fading. What was never seen takes the mean of the
/// others' factors, near ones counting more, and of what says that the table is right. A round is
/// compared with the median of the last five, each by its factor, so a machine that gets slower
/// changes no factor; none counts for more than half again what was expected. Beyond
/// followed_positions only powers of two have factors of their own: a round counts for the nearest,
/// and numbers in between have what lies on the line. All other costs: round_line.
///
/// In rounds that draft nothing; what these take beside the pass counts into the passes. Of such
/// rounds only every eighth changes what the others go by, as each costs time and tells little.
/// Allocates at construction only.
class cost_model {
public:
    explicit cost_model(const cost_table& measured = {})
        : measured_(measured), now_(measured), found_(measured), line_(measured) {
        now_.reserve_as(measured_);
        found_.reserve_as(measured_);
        now_by_.fill(1);
    }

    [[nodiscard]] const cost_table& measured() const { return measured_; }
    /// What the drafter's rounds go by: as measured, until a round was learnt.
    [[nodiscard]] const cost_table& now() const { return now_; }
    /// The same of rounds whose proposals were looked up, each of which costs a law.
    [[nodiscard]] const cost_table& of_found() const { return found_; }

    /// How many rounds that draft nothing such seconds are. 0: not known yet.
    [[nodiscard]] double rounds_in(double seconds) const {
        return seen_ < enough ? 0 : seconds / (pace_ * unit() * (1 + line_.round()));
    }

    /// Ignored if nobody measured.
    void learn(const timed_round& r, round_seconds took) {
        if (!(took.pass > 0) || !(took.rest >= 0))
            return;
        if (r.pass_counts)
            learn_pass(r, took.pass / r.pass);
        if (seen_ < enough)
            return;
        const bool plain = r.positions == 1 && r.rest.forwards == 0;
        kept_back_ = plain ? kept_back_ + 1 : together;
        if (kept_back_ >= together)
            weigh();
        const double rest = took.rest / (pace_ * unit());
        if (r.rest_counts)
            line_.learn(r.rest, rest);
        else
            line_.took_no_longer(r.rest, rest);
        if (kept_back_ >= together) {
            tell();
            kept_back_ = 0;
        }
    }

private:
    static constexpr std::size_t sizes = followed_positions + 8; // more count as the last
    static constexpr std::size_t last_ones = 5, enough = 3;
    static constexpr std::size_t together = 8; // plain rounds
    static constexpr double fading = 0.97, forgetting = 0.998, most = 1.5;

    struct factor {
        double rounds = 0, mean = 1;
        /// How far it is known.
        [[nodiscard]] double share() const { return rounds / (rounds + 1); }
    };

    [[nodiscard]] static double within(double x, double expected) {
        return x > most * expected ? most * expected : x < expected / most ? expected / most : x;
    }

    [[nodiscard]] double unit() const { return measured_.pass_over(1) * now_by_[0]; }

    /// The number of positions that has factor k.
    [[nodiscard]] static std::size_t place_of(std::size_t k) {
        return k < followed_positions ? k + 1 : followed_positions << (k + 1 - followed_positions);
    }
    /// Which factor n positions count for.
    [[nodiscard]] static std::size_t factor_of(std::size_t n) {
        std::size_t k = (n < followed_positions ? n : followed_positions) - 1;
        while (k + 1 < sizes && n * n > place_of(k) * place_of(k + 1))
            ++k;
        return k;
    }
    /// The factor of n positions, as it is believed; k: the last one with place_of(k) <= n.
    [[nodiscard]] double believed(std::size_t n, std::size_t k) const {
        const std::size_t at = place_of(k);
        if (n == at || k + 1 == sizes)
            return now_by_[k];
        const double part = static_cast<double>(n - at) / static_cast<double>(place_of(k + 1) - at);
        return now_by_[k] + part * (now_by_[k + 1] - now_by_[k]);
    }

    /// The factor of each number of positions, in any unit: its own as far as it is known, and what
    /// the others have. That the table is right says of more than one position that they have what
    /// one has.
    void weigh() {
        std::array<double, sizes + 1> weight{};
        double weights = 0, sum = 0;
        for (std::size_t k = 1; k < sizes; ++k) {
            weight[k] = 0.25 * factors_[k].share();
            weights += weight[k];
            sum += weight[k] * factors_[k].mean;
        }
        for (std::size_t n = 0; n < sizes; ++n) {
            double others = weights > 0 ? sum / weights : factors_[0].mean;
            if (n > 0) {
                const double above = weight[n + 1], below = weight[n - 1];
                const double all = weights - weight[n] + above + below + 0.25;
                others = (sum - weight[n] * factors_[n].mean + below * factors_[n - 1].mean +
                          (n + 1 < sizes ? above * factors_[n + 1].mean : 0) + 0.25 * now_by_[0]) /
                         all;
            }
            now_by_[n] = others + factors_[n].share() * (factors_[n].mean - others);
        }
    }

    /// A pass that took so many seconds for each unit of the table.
    void learn_pass(const timed_round& r, double time) {
        double expected = now_by_[0];
        if (r.positions > 0) {
            const std::size_t n = factor_of(r.positions);
            factor& f = factors_[n];
            expected = f.rounds > 0 ? f.mean : now_by_[n];
            if (seen_ >= enough) {
                double now = time / pace_;
                now = now < most * expected ? now : most * expected;
                for (factor& any : factors_)
                    any.rounds *= forgetting;
                f.rounds = f.rounds * fading + 1;
                f.mean += (f.rounds > 1 ? 1 / f.rounds : 1) * (now - f.mean);
            }
        }
        paces_[seen_ % last_ones] = time / expected;
        ++seen_;
        const double usual =
            median_of(std::span(paces_).first(seen_ < last_ones ? seen_ : last_ones));
        if (seen_ <= enough || usual > most * pace_ || usual < pace_ / most)
            pace_ = usual; // the first ones, or the machine has changed
        else
            pace_ += (within(time / expected, pace_) - pace_) / 4;
    }

    void tell() {
        const double one = unit(), beside = line_.round(), all = 1 + beside;
        const std::size_t known = measured_.pass.size();
        const std::size_t last = known > followed_positions ? known : followed_positions;
        now_.pass.resize(last);
        found_.pass.resize(last);
        for (std::size_t n = 0, k = 0; n < last; ++n) {
            while (k + 1 < sizes && place_of(k + 1) <= n + 1)
                ++k;
            const double pass = measured_.pass_over(static_cast<double>(n + 1));
            now_.pass[n] = (pass * believed(n + 1, k) / one + beside) / all;
        }
        double sure = 0; // rounds that tell of more positions, which tells of fewer
        for (std::size_t n = last; n-- > 0;) {
            const double rounds = factors_[factor_of(n + 1)].rounds;
            if (n + 1 < last && now_.pass[n] > now_.pass[n + 1] && rounds < sure)
                now_.pass[n] = now_.pass[n + 1];
            else
                sure = rounds;
        }
        for (std::size_t n = 0; n < last; ++n) {
            if (n > 0 && now_.pass[n] < now_.pass[n - 1])
                now_.pass[n] = now_.pass[n - 1];
            found_.pass[n] = now_.pass[n] + line_.found() / all * static_cast<double>(n);
        }
        now_.start = found_.start = line_.draft() / all;
        now_.draft = found_.draft = line_.forward() / all;
        now_.catch_up = found_.catch_up = line_.fed() / all;
    }

    cost_table measured_, now_, found_;
    round_line line_;
    std::array<factor, sizes> factors_{};   // as the rounds were
    std::array<double, sizes> now_by_{};    // as they are believed
    std::array<double, last_ones> paces_{}; // seconds of a unit of the table, by the last rounds
    double pace_ = 0;                       // what they are compared with
    std::size_t seen_ = 0;                  // passes
    std::size_t kept_back_ = together - 1;  // plain rounds that nothing goes by yet
};

} // namespace specdec
