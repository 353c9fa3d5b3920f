// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/exponentials.hpp>

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
        maximum_ = static_cast<double>(largest()) / temperature_;
        double x[at_once], sums[8] = {}; // side by side: they do not wait for each other
        for (std::size_t first = 0; first < z_.size(); first += at_once) {
            scale(first, 0, x);
            exponentials(x);
            for (std::size_t i = 0; i < at_once; i += 8)
                for (std::size_t j = 0; j < 8; ++j)
                    sums[j] += x[i + j];
        }
        double sum = 0;
        for (const double part : sums)
            sum += part;
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

    /// Numbers that probabilities() gives.
    static constexpr std::size_t at_once = exponentials_at_once;

    /// q of the tokens first .. first + 63; 0 behind the last one. Pre: first is of the row.
    void probabilities(std::size_t first, double (&q)[at_once]) const {
        scale(first, log_sum_, q);
        exponentials(q);
    }

private:
    static constexpr double infinity = builtin::infinity;

    /// Logits of the tokens from `first` on; -infinity for masked ones and behind the last.
    void read(std::size_t first, float (&z)[at_once]) const {
        const std::size_t n = z_.size() - first < at_once ? z_.size() - first : at_once;
        if (n < at_once)
            for (float& v : z)
                v = -builtin::infinity;
        for (std::size_t i = 0; i < n; ++i)
            z[i] = z_[first + i];
        for (std::size_t i = 0; i < n && !mask_.empty(); ++i)
            z[i] = mask_[first + i] >= 0 ? z[i] : -builtin::infinity;
    }
    [[nodiscard]] float largest() const {
        float z[at_once], top[at_once];
        for (float& t : top)
            t = -builtin::infinity;
        for (std::size_t first = 0; first < z_.size(); first += at_once) {
            read(first, z);
            for (std::size_t i = 0; i < at_once; ++i)
                top[i] = z[i] > top[i] ? z[i] : top[i];
        }
        for (const float t : top)
            top[0] = t > top[0] ? t : top[0];
        return top[0];
    }
    /// z / T - maximum - by of the tokens from `first` on; -infinity as in read().
    void scale(std::size_t first, double by, double (&x)[at_once]) const {
        float z[at_once];
        read(first, z);
        for (std::size_t i = 0; i < at_once; ++i)
            x[i] = static_cast<double>(z[i]) / temperature_ - maximum_ - by;
    }

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
