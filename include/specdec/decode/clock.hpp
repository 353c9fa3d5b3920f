// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

namespace specdec {

/// Time is an argument: a callable that returns seconds since any fixed moment.
template <class C>
concept Clock = requires(C& clock) {
    { clock() } -> std::convertible_to<double>;
};

/// The clock of callers that do not measure: all times are 0.
struct no_clock {
    [[nodiscard]] double operator()() const { return 0.0; }
};

} // namespace specdec
