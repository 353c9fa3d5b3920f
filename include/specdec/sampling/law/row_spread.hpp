// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/require.hpp>
#include <specdec/sampling/law/row_kernels.hpp>

namespace specdec {

/// How sure a row of logits is, at temperature 1 and without cutoffs.
///
/// Symbols: softmax(l_i) = exp(l_i - log_sum), H = log_sum - sum of softmax(l_i) l_i. Complexity:
/// two reads of the row, three for the entropy. Allocates nothing. Errors: specdec::error for a row
/// that makes no law: empty, with NaN, +infinity, or nothing finite.
struct row_spread {
    double log_sum = 0; ///< logarithm of the sum of exp(l_i)
    double entropy = 0; ///< H in nats; 0 where it was not asked for

    row_spread() = default;
    row_spread(std::span<const float> row, row_reading what) {
        if (what == row_reading::none)
            return;
        const auto& kernels = row_kernels::best();
        float maximum = kernels.maximum(row.data(), row.size());
        const auto e = row_kernels::make_exponent(maximum, row_kernels::make_scale(1.0));
        const double sum = kernels.sum(row.data(), row.size(), e, maximum);
        require_logits(maximum > -row_kernels::infinity && maximum < row_kernels::infinity &&
                       sum < 0x1p126); // NaN makes it larger
        log_sum = static_cast<double>(maximum) + builtin::log(sum);
        if (what != row_reading::entropy)
            return;
        std::array<float, 256> weights;
        double mean = 0; // of l - maximum
        for (std::size_t first = 0; first < row.size(); first += weights.size()) {
            const std::size_t left = row.size() - first;
            const std::size_t n = left < weights.size() ? left : weights.size();
            kernels.weigh(row.data() + first, weights.data(), n, e);
            for (std::size_t i = 0; i < n; ++i)
                if (weights[i] > 0) // a logit of -infinity has no weight
                    mean += static_cast<double>(weights[i]) *
                            static_cast<double>(row[first + i] - maximum);
        }
        entropy = builtin::log(sum) - mean / sum;
    }

    /// The probability of a logit of the row.
    [[nodiscard]] double sureness(float logit) const {
        return builtin::exp(static_cast<double>(logit) - log_sum);
    }
};

} // namespace specdec
