// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/draft/draft_outcome.hpp>

namespace specdec {

/// What to do with a drafter's new weights.
enum class watch_verdict : std::uint8_t {
    wait,      ///< not known yet
    keep,      ///< not worse than those before: they are the good ones now, to be saved
    roll_back, ///< worse: go back to the weights that were saved last
};

struct watch_settings {
    std::size_t window = 256; ///< rounds that new weights draft before they are kept
    double deviations = 3;    ///< z, in standard errors: how much worse is rolled back
};

/// Notices when a drafter that learns has become worse. It compares the number of target tokens a
/// round, of all rounds, with drafts and without:
///
///     worse  :=  before - after  >  z sqrt(s_before^2 / n_before + s_after^2 / n_after)
///
/// `after` is the rounds behind an update, judged behind a quarter, a half and the whole of a
/// window (a part shorter than 16 rounds is not); `before` all rounds before it, fading by 1 / (4
/// windows) a round, so that many small declines add up; s^2 is the variance of each, and n_before
/// the number of rounds that the fading ones are worth. Rounds taken as independent and parts as
/// long as 30, equal weights are rolled back with probability 3 (1 - Phi(z)) at most the first
/// time, Phi the normal law (later up to twice as often, since a lucky `before` errs again);
/// weights that are worse by more than (z + 3) s sqrt(1 / n_before + 1 / n_after) are found behind
/// a part of n_after with probability 0.999. Harder texts look like a worse drafter, so a window
/// should span several texts.
///
///     watch.updated()        new weights draft from the next round on; more updates may follow
///     watch.see(outcome)     every committed round; where it says keep or roll_back, do so before
///                            the next round
///
/// With less than an eighth of a window of rounds before the first update the verdict is keep. The
/// same rounds give the same verdicts. O(1) a round; allocates nothing.
class regression_guard {
public:
    /// Errors: specdec::error for a window of less than 8 rounds, for a z that is not above 0.
    explicit regression_guard(watch_settings settings = {}) : settings_(settings) {
        if (settings.window < 8)
            fail("regression guard", "window", "expected at least 8 rounds");
        if (!(settings.deviations > 0 && settings.deviations < builtin::infinity))
            fail("regression guard", "deviations", "expected a finite number above 0");
    }

    void updated() { trial_ = true; }

    watch_verdict see(const draft_outcome& round) {
        const auto tokens = static_cast<double>(round.emitted);
        if (!trial_) {
            before_.fade(kept());
            before_.count(tokens);
            return watch_verdict::wait;
        }
        after_.count(tokens);
        ++tried_;
        if (!is_looked_at(tried_))
            return watch_verdict::wait;
        const bool known = 8 * before_.rounds() >= static_cast<double>(settings_.window);
        const bool worse =
            known && before_.mean() - after_.mean() >
                         settings_.deviations * builtin::sqrt(before_.error() + after_.error());
        if (!worse && tried_ < settings_.window)
            return watch_verdict::wait;
        trial_ = false;
        tried_ = 0;
        if (!worse) {
            before_.fade(builtin::pow(kept(), after_.n));
            before_.add(after_);
        }
        after_ = {};
        return worse ? watch_verdict::roll_back : watch_verdict::keep;
    }

private:
    /// Weighted rounds.
    struct sample {
        double n = 0, squares_of_weights = 0; ///< sums of the weights, and of their squares
        double sum = 0, squares = 0;          ///< of the tokens

        void count(double x) { add({1, 1, x, x * x}); }
        void add(const sample& s) {
            n += s.n;
            squares_of_weights += s.squares_of_weights;
            sum += s.sum;
            squares += s.squares;
        }
        void fade(double by) {
            n *= by;
            squares_of_weights *= by * by;
            sum *= by;
            squares *= by;
        }
        [[nodiscard]] double rounds() const { return n > 0 ? n * n / squares_of_weights : 0; }
        [[nodiscard]] double mean() const { return n > 0 ? sum / n : 0; }
        /// Variance of the mean.
        [[nodiscard]] double error() const {
            const double variance = squares / n - mean() * mean(), k = rounds();
            return k > 1 && variance > 0 ? variance / (k - 1) : 0;
        }
    };
    [[nodiscard]] bool is_looked_at(std::size_t rounds) const {
        constexpr std::size_t fewest = 16;
        return rounds == settings_.window || (rounds >= fewest && (rounds == settings_.window / 4 ||
                                                                   rounds == settings_.window / 2));
    }
    [[nodiscard]] double kept() const {
        return 1 - 1 / (4 * static_cast<double>(settings_.window));
    }

    watch_settings settings_;
    bool trial_ = false;    // updates are on trial
    std::size_t tried_ = 0; // rounds of them
    sample before_, after_; // rounds of the good weights; of those on trial
};

} // namespace specdec
