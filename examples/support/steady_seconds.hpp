// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace specdec::examples {

/// Seconds of the steady clock: the Clock that the programs hand to the library.
struct steady_seconds {
    double operator()() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
};

} // namespace specdec::examples
