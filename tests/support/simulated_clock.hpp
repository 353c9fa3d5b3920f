// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace specdec::testing {

/// What a clock would say of an engine whose passes take so many seconds.
class simulated_clock {
public:
    static constexpr double pass_seconds = 0.01;

    explicit simulated_clock(std::uint64_t seed) : state_(seed) {}

    double uniform() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state_ >> 11) * 0x1p-53;
    }
    /// Of so many passes: up to a tenth more, and sometimes the system took over.
    double took(double passes) {
        const double more = 1 + 0.1 * uniform();
        return pass_seconds * passes * (uniform() < 0.01 ? 6 : more);
    }

private:
    std::uint64_t state_;
};

} // namespace specdec::testing
