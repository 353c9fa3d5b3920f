// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/drafting.hpp>

namespace specdec {

/// Drafts a fixed number of tokens. Sensible lengths: 2 to 8; 0 turns drafting off.
struct fixed_length {
    std::size_t length = 5;

    [[nodiscard]] bool more(std::size_t drafted, double) const { return drafted < length; }
};
static_assert(StopRule<fixed_length>);

/// Drafts while the drafter is sure: ends behind the first token whose probability is below
/// `threshold`, and after `length` tokens at the latest. Sensible thresholds: 0.2 to 0.6.
struct confidence {
    double threshold = 0.4;
    std::size_t length = 8;

    [[nodiscard]] bool more(std::size_t drafted, double last) const {
        return drafted < length && last >= threshold;
    }
};
static_assert(StopRule<confidence>);

} // namespace specdec
