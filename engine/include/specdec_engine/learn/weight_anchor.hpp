// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <span>

#include <specdec/core/contract.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>

namespace specdec::engine {

/// A pull of learning weights w to those they began with, w_0, so that what they knew of other
/// texts stays (L2-SP; Li, Grandvalet and Davoine, arXiv 1802.01483), decoupled from the gradient
/// as AdamW's decay is:
///
///     w = (1 - s) w + s w_0        s = min(1, lr strength)
///
/// behind each step of size lr. A weight whose steps all have one sign goes as far as lr / s.
/// Memory: the weights once more, none for a strength of 0. Precondition: strength >= 0.
template <class Scalar>
class weight_anchor {
public:
    weight_anchor() = default;
    weight_anchor(double strength, std::span<const Scalar> began) : strength_(strength) {
        if (strength > 0)
            began_.assign(began.begin(), began.end());
    }

    /// Complexity: O(weights). Allocates nothing. Precondition: as many weights as there were.
    void pull(std::span<Scalar> weights, double lr) const {
        if (strength_ == 0)
            return;
        SPECDEC_PRECONDITION(weights.size() == began_.size());
        const auto share = static_cast<Scalar>(std::min(1.0, lr * strength_));
        for (std::size_t i = 0; i < weights.size(); ++i)
            weights[i] = (1 - share) * weights[i] + share * began_[i];
    }

    [[nodiscard]] double strength() const { return strength_; }
    /// w_0; empty for a strength of 0. What is saved and read again.
    [[nodiscard]] std::span<const Scalar> began() const { return began_; }
    [[nodiscard]] std::span<Scalar> began() { return began_; }

private:
    double strength_ = 0;
    aligned_vector<Scalar> began_;
};

} // namespace specdec::engine
