// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/row_softmax.hpp>

namespace specdec {

/// The gradient of a loss L(q) with respect to the logits of q = softmax(z / T), in the caller's
/// span. A loss adds its derivatives in log q, the chain rule of the softmax does the rest:
///
///     w_d = dL / d log q(d),    dL / dz_d = (w_d - q(d) sum_i w_i) / T
///
/// so gradients sum to 0, and are 0 where q is. What the span held is overwritten. Shapes: [|D|],
/// as the row. Complexity: two writes of the span. Allocates nothing. Errors: specdec::error for a
/// span of another size, one that overlaps the row (which is read again), a scale that is not
/// finite.
class logit_gradient {
public:
    logit_gradient(const row_softmax& q, std::span<float> out) : q_(q), w_(out) {
        if (out.size() != q.size())
            fail("gradient", "size",
                 "expected one number for each of the row's " + std::to_string(q.size()) +
                     " logits, found " + std::to_string(out.size()));
        const auto begin = reinterpret_cast<std::uintptr_t>(out.data());
        const auto row = reinterpret_cast<std::uintptr_t>(q.logits().data());
        if (begin < row + out.size_bytes() && row < begin + out.size_bytes())
            fail("gradient", "memory", "expected other memory than the row's");
        for (float& w : out)
            w = 0;
    }

    /// Adds w to dL / d log q(d). Pre: d is of the row.
    void add(draft_id d, double w) {
        float& held = w_[d.index()];
        const float before = held;
        held += static_cast<float>(w);
        sum_ +=
            static_cast<double>(held) - static_cast<double>(before); // as rounded: they sum to 0
    }

    /// Turns what was added into scale * dL / dz, once.
    void finish(double scale) {
        if (!(builtin::fabs(scale) < builtin::infinity))
            fail("gradient", "weight", "expected a finite number");
        constexpr std::size_t at_once = row_softmax::at_once;
        const double by = scale / q_.temperature();
        double q[at_once];
        for (std::size_t first = 0; first < w_.size(); first += at_once) {
            q_.probabilities(first, q);
            const std::size_t n = w_.size() - first < at_once ? w_.size() - first : at_once;
            for (std::size_t i = 0; i < n; ++i) {
                const double rest = static_cast<double>(w_[first + i]) - q[i] * sum_;
                w_[first + i] = static_cast<float>(by * rest);
            }
        }
    }

private:
    const row_softmax& q_;
    std::span<float> w_; ///< [|D|]
    double sum_ = 0;
};

} // namespace specdec
