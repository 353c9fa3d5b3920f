// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>

namespace specdec {

/// The confidence that each exit of a drafter needs: tau_0, tau_1, ... of the shallowest exits,
/// from 0 (always enough) to 1. An exit behind those given needs none. `never`: the exit is passed
/// over. Paper: S2D (Kavehzadeh et al. 2024), Alg. 1, T; its Figure 1 has 0.75 and 0.7 for two
/// exits of three. Errors: specdec::error for any other number.
class exit_thresholds {
public:
    /// Above every confidence.
    static constexpr double never = 2;

    /// The first exit always speaks.
    exit_thresholds() = default;
    explicit exit_thresholds(std::vector<double> tau) : tau_(std::move(tau)) {
        for (const double t : tau_)
            require(t);
    }
    /// One exit always speaks: a drafter of that depth.
    [[nodiscard]] static exit_thresholds fixed(std::size_t exit) {
        return exit_thresholds(std::vector<double>(exit, never));
    }

    [[nodiscard]] double operator[](std::size_t exit) const {
        return exit < tau_.size() ? tau_[exit] : 0;
    }
    /// The thresholds that were given.
    [[nodiscard]] std::span<const double> values() const { return tau_; }
    [[nodiscard]] law_version version() const {
        law_version all = 0;
        for (const double t : tau_)
            all = version_of_values(t) + 3 * all;
        return all;
    }
    /// Between rounds. Precondition: the exit is one of those given.
    void set(std::size_t exit, double tau) {
        require(tau);
        tau_[exit] = tau;
    }

    /// Errors: specdec::error where a model with so many exits has fewer than were given, and where
    /// its last one would never speak.
    void check(std::size_t exits) const {
        if (tau_.size() > exits)
            fail("exit thresholds", "number",
                 "expected at most " + std::to_string(exits) + ", one for each exit, found " +
                     std::to_string(tau_.size()));
        if (exits == 0 || (*this)[exits - 1] == never)
            fail("exit thresholds", "last exit",
                 "expected a threshold other than `never` for the last of the model's " +
                     std::to_string(exits) + " exits");
    }

    friend bool operator==(const exit_thresholds&, const exit_thresholds&) = default;

private:
    static void require(double tau) { // written so that NaN fails
        if (!((tau >= 0 && tau <= 1) || tau == never))
            fail("exit thresholds", "threshold", "expected a number from 0 to 1, or never");
    }

    std::vector<double> tau_;
};

} // namespace specdec
