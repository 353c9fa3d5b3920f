// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include <specdec/draft/cost_table.hpp>

namespace specdec {

/// What rounds take beside the target's pass, in passes over one position:
///
///     round + draft [something was drafted] + forward * forwards + found * looked up
///           + fed * tokens that the drafter was fed before
///
/// by least squares over the rounds, of which older ones fade, and over what was measured, which
/// counts for a few. What any round takes is the mean of those that proposed nothing. No part is
/// below 0, and no forward below a quarter of what was measured. Where all drafts are of one
/// length, a forward takes most of what a draft took more than was measured. What was measured of
/// a part beyond what a whole round took was measured wrongly, and goes by halves. A round that the
/// system interrupts moves it little: none counts for more than three times what was expected.
/// Complexity: O(1) a round. Allocates nothing.
class round_line {
public:
    struct parts {
        double forwards = 0, looked_up = 0, fed = 0;
    };

    explicit round_line(const cost_table& measured) {
        before_[a_forward] = measured.draft;
        before_[a_token_fed] = measured.catch_up;
        held_at_[a_forward] = measured.draft / 4;
        now_ = before_;
    }

    [[nodiscard]] double round() const { return now_[a_round]; }
    [[nodiscard]] double draft() const { return now_[a_draft]; }
    [[nodiscard]] double forward() const { return now_[a_forward]; }
    [[nodiscard]] double found() const { return now_[a_found]; }
    [[nodiscard]] double fed() const { return now_[a_token_fed]; }

    /// Of a round that fed the drafter more than is known: none of its parts took longer than all
    /// of it. Half of what was measured beyond that is forgotten.
    void took_no_longer(const parts& of, double took) {
        const auto lower = [&](part i, double n) {
            if (before_[i] * n > took)
                now_[i] = before_[i] = (before_[i] + took / n) / 2;
        };
        lower(a_forward, of.forwards);
        lower(a_token_fed, of.fed);
        held_at_[a_forward] = before_[a_forward] / 4;
    }

    void learn(const parts& of, double took) {
        const numbers x{1, of.forwards > 0 ? 1.0 : 0.0, of.forwards, of.looked_up, of.fed};
        double expected = 0.25;
        for (std::size_t i = 0; i < size; ++i)
            expected += x[i] * now_[i];
        took_no_longer(of, took); // as it was, not as far as it counts
        if (rounds_ >= 4 && took > 3 * expected)
            took = 3 * expected;
        rounds_ += 1;
        if (of.forwards == 0 && of.looked_up == 0) {
            plain_ = plain_ * fading + 1;
            held_at_[a_round] += (took - held_at_[a_round]) / plain_;
        }
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j)
                products_[i][j] = products_[i][j] * fading + x[i] * x[j];
            times_[i] = times_[i] * fading + x[i] * took;
        }
        if (of.forwards == 0 && of.looked_up == 0)
            now_[a_round] = held_at_[a_round]; // of the other parts it says nothing
        else
            solve();
    }

private:
    enum part : std::size_t { a_round, a_draft, a_forward, a_found, a_token_fed, size };
    using numbers = std::array<double, size>;
    static constexpr double fading = 0.99;
    /// Rounds with one of each for which the measured numbers count.
    static constexpr numbers known{0, 4, 2, 4, 16};

    /// The least squares with no number below its least: those that would be are held there.
    void solve() {
        std::array<bool, size> held{true}; // what every round takes
        for (bool again = true; again;) {
            now_ = solution(held);
            again = false;
            for (std::size_t i = 0; i < size; ++i)
                if (!held[i] && now_[i] < held_at_[i])
                    held[i] = again = true;
        }
    }
    [[nodiscard]] numbers solution(const std::array<bool, size>& held) const {
        std::array<numbers, size> left = products_;
        numbers right = times_;
        for (std::size_t i = 0; i < size; ++i) {
            left[i][i] += known[i];
            right[i] += known[i] * before_[i];
        }
        for (std::size_t i = 0; i < size; ++i)
            if (held[i]) {
                left[i] = {};
                left[i][i] = 1;
                right[i] = held_at_[i];
            }
        for (std::size_t i = 0; i < size; ++i) // positive definite, but for what is held
            for (std::size_t k = 0; k < size; ++k) {
                if (k == i)
                    continue;
                const double times = left[k][i] / left[i][i];
                for (std::size_t j = 0; j < size; ++j)
                    left[k][j] -= times * left[i][j];
                right[k] -= times * right[i];
            }
        numbers out{};
        for (std::size_t i = 0; i < size; ++i)
            out[i] = held[i] ? held_at_[i] : right[i] / left[i][i];
        return out;
    }

    numbers before_{}, held_at_{}, now_{};
    std::array<numbers, size> products_{}; // sums over rounds, older ones fading
    numbers times_{};
    double rounds_ = 0, plain_ = 0;
};

} // namespace specdec
