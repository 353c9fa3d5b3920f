// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <span>

namespace specdec::engine {

/// The Euclidean norm of a gradient, all tensors together; not finite where one number is not.
template <class Scalar>
[[nodiscard]] double gradient_norm(std::span<const Scalar> gradient) {
    double squares = 0;
    for (const Scalar g : gradient)
        squares += static_cast<double>(g) * static_cast<double>(g);
    return std::sqrt(squares);
}

/// Clipping by the global norm (Pascanu, Mikolov and Bengio, arXiv 1211.5063, Alg. 1): a gradient
/// longer than `longest` is made that long. Returns the norm that it had. A gradient that is not
/// finite stays as it is: the caller sees it by the norm and leaves out the step.
/// Complexity: O(parameters). Allocates nothing. Precondition: longest > 0.
template <class Scalar>
double clip_gradient(std::span<Scalar> gradient, double longest) {
    const double norm = gradient_norm(std::span<const Scalar>(gradient));
    if (norm > longest && std::isfinite(norm)) {
        const auto factor = static_cast<Scalar>(longest / norm);
        for (Scalar& g : gradient)
            g *= factor;
    }
    return norm;
}

} // namespace specdec::engine
