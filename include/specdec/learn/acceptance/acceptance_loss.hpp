// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>

namespace specdec {

/// What an accepted and a rejected token weigh. Rejections are rare where the drafter is good;
/// SpecDec++'s program weighs them 6 to balance the two.
struct acceptance_weights {
    double accepted = 1;
    double rejected = 1;
};

/// The weighted binary cross-entropy of an acceptance head (SpecDec++, Huang et al. 2025;
/// OmniDraft, 3.3, Eq. 5):
///
///     - sum_i [ w_accepted a_i log s(f_i) + w_rejected (1 - a_i) log(1 - s(f_i)) ],  s the sigmoid
///
/// f_i the head's logit for proposal i, a_i = min(1, p(y_i) / q(y_i)) the label. (The rule that
/// stops by Eq. 6 and 7 is predicted_end.) A sum, so that calls for parts add up; SpecDec++'s
/// program divides by the sum of w_accepted a_i + w_rejected (1 - a_i), which goes into both
/// weights. Writes the gradient with respect to f to `gradient`, which may be the memory of f.
/// Shapes: all [n]. Complexity: O(n). Allocates nothing. Errors: specdec::error for spans of
/// different sizes, logits that are not finite, labels outside [0, 1], weights that are negative or
/// not finite.
inline double acceptance_loss(std::span<const float> logits, std::span<const float> labels,
                              std::span<float> gradient, acceptance_weights weights = {}) {
    const auto require = [](bool holds, const char* field, const char* expected) {
        if (!holds)
            fail("acceptance loss", field, expected);
    };
    constexpr double infinity = builtin::infinity;
    require(logits.size() == labels.size() && logits.size() == gradient.size(), "sizes",
            "expected as many labels and gradients as logits");
    require(weights.accepted >= 0 && weights.accepted < infinity && weights.rejected >= 0 &&
                weights.rejected < infinity,
            "weights", "expected finite numbers of at least 0");
    double sum = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const auto f = static_cast<double>(logits[i]), a = static_cast<double>(labels[i]);
        require(builtin::fabs(f) < infinity, "logits", "expected finite numbers");
        require(a >= 0 && a <= 1, "labels", "expected numbers from 0 to 1");
        // log(1 + e^-|f|) is what both logarithms share; e^-|f| never overflows.
        const double e = builtin::exp(-builtin::fabs(f)), shared = builtin::log1p(e);
        const double minus_log_s = shared + (f < 0 ? -f : 0);
        const double minus_log_not_s = shared + (f > 0 ? f : 0);
        const double s = f < 0 ? e / (1 + e) : 1 / (1 + e);
        const double not_s = f < 0 ? 1 / (1 + e) : e / (1 + e);
        const double accepted = weights.accepted * a, rejected = weights.rejected * (1 - a);
        sum += accepted * minus_log_s + rejected * minus_log_not_s;
        gradient[i] = static_cast<float>(rejected * s - accepted * not_s);
    }
    return sum;
}

} // namespace specdec
