// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers> // std::numbers::pi
#include <string>

#include <specdec/core/error.hpp>

namespace specdec::reference {

/// The step size of step t = 0, 1, ...: linear warm-up, then half a cosine (Loshchilov and Hutter,
/// arXiv 1608.03983) down to `least`, and `least` for ever after:
///
///     t < warmup:   peak (t + 1) / warmup
///     then:         least + (peak - least) (1 + cos(pi x)) / 2,
///                   x = (t - warmup) / (steps - warmup)
struct learning_rate {
    double peak = 1e-3;
    double least = 0;
    std::uint64_t warmup = 0; ///< steps
    std::uint64_t steps = 1;  ///< all of them; at least `warmup`

    [[nodiscard]] double operator()(std::uint64_t step) const {
        if (step < warmup)
            return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
        if (step >= steps)
            return least;
        const double x = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
        return least + (peak - least) * (1 + std::cos(std::numbers::pi * x)) / 2;
    }
};

/// Throws specdec::error naming the field unless the numbers make a schedule.
inline void check(const learning_rate& r, const std::string& source = "learning rate") {
    if (!(r.peak > 0 && r.peak < std::numeric_limits<double>::infinity()))
        throw error(source, "peak", "expected a positive number");
    if (!(r.least >= 0 && r.least <= r.peak))
        throw error(source, "least", "expected 0 to the peak");
    if (r.warmup > r.steps)
        throw error(source, "warmup", "expected at most the number of steps");
}

} // namespace specdec::reference
