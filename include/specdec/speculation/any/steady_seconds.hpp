// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace specdec {

/// Seconds of the steady clock: models Clock.
struct steady_seconds {
    [[nodiscard]] double operator()() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
};

} // namespace specdec
