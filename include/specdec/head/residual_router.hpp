// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/head/routed_head.hpp>

namespace specdec {

/// CORAL's router (section 3.3, Eq. 7) before its softmax: W2 (act(W1 h) + h), act = SiLU. Weights
/// are borrowed, row by row: W1 [width, width], W2 [groups, width]. Models Router. Complexity:
/// (width + groups) width products. Memory: `width` floats, allocated at construction. Errors:
/// specdec::error for weights of other sizes.
class residual_router {
public:
    residual_router(std::span<const float> w1, std::span<const float> w2, std::size_t width)
        : w1_(w1), w2_(w2), inner_(width) {
        if (width == 0 || w1.size() != width * width || w2.empty() || w2.size() % width != 0)
            fail("residual router", "weights", "expected [width, width] and [groups, width]");
    }

    [[nodiscard]] std::size_t groups() const { return w2_.size() / width(); }
    [[nodiscard]] std::size_t width() const { return inner_.size(); }

    void route(hidden_state x, std::span<float> out) {
        const std::span<const float> h = x.values;
        for (std::size_t i = 0; i < width(); ++i) {
            const float z = dot(w1_.subspan(i * width(), width()), h);
            inner_[i] = z / (1 + builtin::expf(-z)) + h[i];
        }
        for (std::size_t g = 0; g < groups(); ++g)
            out[g] = dot(w2_.subspan(g * width(), width()), inner_);
    }

private:
    /// Adds in eight sums, which the compiler keeps in one register.
    static float dot(std::span<const float> a, std::span<const float> b) {
        float sums[8] = {};
        std::size_t i = 0;
        for (; i + 8 <= a.size(); i += 8)
            for (std::size_t k = 0; k < 8; ++k)
                sums[k] += a[i + k] * b[i + k];
        for (; i < a.size(); ++i)
            sums[0] += a[i] * b[i];
        return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
               ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    }

    std::span<const float> w1_, w2_;
    std::vector<float> inner_; // [width]
};
static_assert(Router<residual_router>);

} // namespace specdec
