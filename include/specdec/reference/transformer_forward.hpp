// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <Eigen/Core>

#include <specdec/reference/transformer_layer.hpp>
#include <specdec/reference/transformer_weights.hpp>

namespace specdec::reference {

/// The forward pass of a transformer of the Llama family, without its LM head, over the new tokens
/// of one sequence or several:
///
///     x = embedding[ids]
///     for each layer:    x = x + attention(rms_norm(x))
///                        x = x + swiglu(rms_norm(x))
///     hidden = rms_norm(x),    and the logits are hidden head^T
///
/// observe(l, x) is called with the residual stream before layer l, and with the result as l = L.
/// A token's position is the number of tokens before it that it attends to.
/// Shapes: n tokens of all parts, in order; x and the result: n x d.
/// Pre: ids of the vocabulary; the caches have room for the parts' rows.
/// Complexity: that of the products; n m numbers are held for the scores of one head and part.
template <std::floating_point Scalar, class Observe>
[[nodiscard]] matrix<Scalar> forward(const transformer_weights<Scalar>& w,
                                     std::span<const pass_part<Scalar>> parts,
                                     const Observe& observe) {
    const transformer_config& c = w.config;
    Eigen::Index n = 0;
    for (const pass_part<Scalar>& part : parts)
        n += part.visible.rows();
    matrix<Scalar> x(n, index(c.width)); // n x d
    Eigen::VectorXd positions(n);        // n
    n = 0;
    for (const pass_part<Scalar>& part : parts) {
        const Eigen::Index more = part.visible.rows();
        x.middleRows(n, more) = w.embedding(part.ids, Eigen::seqN(0, index(c.width)));
        positions.segment(n, more) =
            part.visible.rowwise().sum().array().template cast<double>() - 1;
        n += more;
    }
    const rotary_angles<Scalar> angles(positions, rotary_frequencies(c.rotary, c.head_dimension));
    for (std::size_t l = 0; l < c.layers; ++l) {
        const layer_weights<Scalar>& layer = w.layers[l];
        observe(l, x);
        x +=
            attention(rms_norm(x, layer.attention_norm, c.rms_epsilon), layer, c, l, angles, parts);
        x += swiglu(rms_norm(x, layer.mlp_norm, c.rms_epsilon), layer);
    }
    matrix<Scalar> hidden = rms_norm(x, w.final_norm, c.rms_epsilon); // n x d
    observe(c.layers, hidden);
    return hidden;
}

} // namespace specdec::reference
