// SPDX-License-Identifier: MIT
#pragma once

#include <cmath> // std::exp, std::log, std::abs
#include <cstddef>
#include <limits>
#include <span>

#include <specdec/core/contract.hpp>

namespace specdec {

/// How far two rows of logits are apart as laws.
struct row_difference {
    bool identical = true; ///< every logit is equal
    double greatest = 0; ///< of |log p(t) - log q(t)|; infinite where one alone forbids t, and for
                         ///< NaN
    std::size_t token = 0; ///< where that is
    double first = 0;      ///< log p of it
    double second = 0;     ///< log q of it
};

/// The log of the sum of exponentials: what turns logits into log-probabilities. -infinity for a
/// row that forbids everything.
[[nodiscard]] inline double log_normaliser(std::span<const float> row) {
    double most = -std::numeric_limits<double>::infinity();
    for (const float x : row)
        most = x > most ? x : most;
    if (!(most > -std::numeric_limits<double>::infinity()))
        return most;
    double sum = 0;
    for (const float x : row)
        sum += std::exp(static_cast<double>(x) - most);
    return most + std::log(sum);
}

/// Compares two rows over one vocabulary. Precondition: p.size() == q.size(). Linear in the
/// vocabulary, without exponentials for identical rows; allocates nothing.
[[nodiscard]] inline row_difference compare_rows(std::span<const float> p,
                                                 std::span<const float> q) {
    SPECDEC_PRECONDITION(p.size() == q.size());
    row_difference found;
    for (std::size_t t = 0; t < p.size() && found.identical; ++t)
        found.identical = p[t] == q[t];
    if (found.identical)
        return found;
    const double of_p = log_normaliser(p), of_q = log_normaliser(q);
    for (std::size_t t = 0; t < p.size(); ++t) {
        if (p[t] == q[t] && std::isinf(p[t])) // forbidden by both
            continue;
        const double a = static_cast<double>(p[t]) - of_p, b = static_cast<double>(q[t]) - of_q;
        double apart = std::abs(a - b);
        if (std::isnan(apart))
            apart = std::numeric_limits<double>::infinity();
        if (apart > found.greatest)
            found = {false, apart, t, a, b};
    }
    return found;
}

} // namespace specdec
