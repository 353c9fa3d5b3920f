// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// The draft law that losses differentiate: q = softmax(z / T) of a row of draft logits z, in
/// double. A logit of -infinity (a token that a trimmed or routed head did not compute) has q = 0
/// and no gradient. A view: lives no longer than the row. Pre: the row keeps its values while
/// losses are taken. Complexity: two reads of the row to construct, O(1) for a probability.
/// Allocates nothing. Errors: specdec::error for a temperature not above 0 or above 1e6, and for a
/// row that is empty, holds NaN, +infinity, or nothing finite.
class row_softmax {
public:
    explicit row_softmax(logits_row<draft_id> z, double temperature = 1)
        : row_softmax(z, {}, temperature) {}

    /// The same over the ids whose entry in `mask` is not negative: as if the logits of all others
    /// were -infinity. mask: [|D|] or empty, lives as long as the law.
    row_softmax(logits_row<draft_id> z, std::span<const std::int32_t> mask, double temperature)
        : z_(z.values), mask_(mask), temperature_(temperature) {
        if (!(temperature > 0 && temperature <= 1e6))
            fail("row softmax", "temperature", "expected a number above 0 and at most 1e6");
        if (!mask.empty() && mask.size() != z_.size())
            fail("row softmax", "mask", "expected one entry for each logit");
        for (std::size_t i = 0; i < z_.size(); ++i)
            maximum_ = scaled(i) > maximum_ ? scaled(i) : maximum_;
        double sum = 0;
        for (std::size_t i = 0; i < z_.size(); ++i)
            sum += builtin::exp(scaled(i) - maximum_);
        log_sum_ = builtin::log(sum);
        if (!(maximum_ > -infinity && log_sum_ < infinity)) // +infinity and NaN make the sum NaN
            fail("row softmax", "logits",
                 "expected no NaN, no +infinity and at least one finite value");
    }

    [[nodiscard]] std::size_t size() const { return z_.size(); }
    [[nodiscard]] double temperature() const { return temperature_; }
    [[nodiscard]] std::span<const float> logits() const { return z_; }

    /// log q(d), -infinity for 0; exact where q underflows. Pre: d is of the row.
    [[nodiscard]] double log_probability(draft_id d) const {
        return scaled(d.index()) - maximum_ - log_sum_;
    }
    /// q(d). Pre: d is of the row.
    [[nodiscard]] double probability(draft_id d) const { return builtin::exp(log_probability(d)); }

private:
    static constexpr double infinity = builtin::infinity;

    [[nodiscard]] double scaled(std::size_t i) const {
        return mask_.empty() || mask_[i] >= 0 ? static_cast<double>(z_[i]) / temperature_
                                              : -infinity;
    }

    std::span<const float> z_;
    std::span<const std::int32_t> mask_;
    double temperature_;
    double maximum_ = -infinity; ///< of z / T
    double log_sum_ = 0;         ///< log of the sum of exp(z / T - maximum)
};

} // namespace specdec
