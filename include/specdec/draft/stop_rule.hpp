// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/drafting.hpp>

namespace specdec {

/// Drafts a fixed number of tokens. Sensible lengths: 2 to 8; 0 turns drafting off.
struct fixed_length {
    std::size_t length = 5;

    [[nodiscard]] bool more(const draft_progress& now) const { return now.drafted < length; }
    [[nodiscard]] law_version version() const { return version_of_values(length); }
};
static_assert(StopRule<fixed_length>);

/// Drafts while the drafter is sure: ends behind the first token whose probability is below
/// `threshold`, and after `length` tokens at the latest. The probability is that of the drafter's
/// row as it is (draft_progress::sure), so it says something at temperature 0, too. Sensible
/// thresholds: 0.2 to 0.6.
struct confidence {
    double threshold = 0.4;
    std::size_t length = 8;
    static constexpr rule_traits traits{.reads = true};

    [[nodiscard]] row_reading reads() const { return row_reading::sureness; }
    [[nodiscard]] bool more(const draft_progress& now) const {
        return now.drafted < length && now.sure >= threshold;
    }
    [[nodiscard]] law_version version() const { return version_of_values(threshold, length); }
};
static_assert(StopRule<confidence>);

/// Ends behind the first token at which 1 - sqrt(weight H) falls below `threshold`, H the entropy
/// of the drafter's row: a lower bound of the acceptance, were the weight known. Paper: AdaEDL
/// (arXiv 2410.18351), whose weight is about 0.2; the threshold is the engine's.
struct entropy_bound {
    double threshold = 0.4;
    double weight = 0.2;
    std::size_t length = 8;
    static constexpr rule_traits traits{.reads = true};

    [[nodiscard]] row_reading reads() const { return row_reading::entropy; }
    [[nodiscard]] bool more(const draft_progress& now) const {
        const double slack = 1 - threshold; // sqrt(weight H) must not exceed it
        return now.drafted < length && slack >= 0 && weight * now.entropy <= slack * slack;
    }
    [[nodiscard]] law_version version() const {
        return version_of_values(threshold, weight, length);
    }
};
static_assert(StopRule<entropy_bound>);

} // namespace specdec
