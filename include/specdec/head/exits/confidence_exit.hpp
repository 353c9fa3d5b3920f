// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <specdec/core/drafting.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/head/exits/exit_thresholds.hpp>
#include <specdec/sampling/law/row_kernels.hpp>
#include <specdec/sampling/law/row_spread.hpp>

namespace specdec {

/// The largest probability of a row, at temperature 1 and without cutoffs; 0 if it allows no token.
/// Complexity: three reads of the row.
[[nodiscard]] inline double row_confidence(std::span<const float> row) {
    if (!any_allowed(row))
        return 0;
    return row_spread(row, row_reading::sureness)
        .sureness(row_kernels::best().maximum(row.data(), row.size()));
}

/// Chooses the first exit whose row is confident enough. Paper: S2D (Kavehzadeh et al. 2024), Alg.
/// 1, with the row's largest probability as its confidence:
///
///     e := min { e : max_x softmax(l_e)(x) >= tau_e },     q := the law of l_e
///
/// That is the paper's own rule for greedy drafts, read at temperature 1 always, so e is a function
/// of the context, and q is q_e itself: lossless with every bridge and verifier. If the last exit
/// has a threshold and is not confident, the draft ends.
///
/// Models ExitChoice. Complexity: row_confidence. Allocates nothing.
class confidence_exit {
public:
    explicit confidence_exit(exit_thresholds thresholds) : thresholds_(std::move(thresholds)) {}

    [[nodiscard]] const exit_thresholds& thresholds() const { return thresholds_; }
    /// To be changed between rounds only.
    [[nodiscard]] exit_thresholds& thresholds() { return thresholds_; }
    [[nodiscard]] law_version version() const { return thresholds_.version(); }

    void check(std::size_t exits, std::size_t) const { thresholds_.check(exits); }
    [[nodiscard]] bool asks(std::size_t exit) const {
        return thresholds_[exit] != exit_thresholds::never;
    }
    [[nodiscard]] bool speaks(std::size_t, std::size_t, std::size_t exit,
                              std::span<const float> row) const {
        const double tau = thresholds_[exit];
        return !(tau > 0) || row_confidence(row) >= tau;
    }

private:
    exit_thresholds thresholds_;
};

} // namespace specdec
