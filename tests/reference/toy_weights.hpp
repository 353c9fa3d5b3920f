// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <string>

#include <specdec/reference/transformer_weights.hpp>

namespace specdec::testing {

/// A small configuration in which no two sizes are equal.
[[nodiscard]] inline reference::transformer_config toy_config() {
    return {.width = 20,
            .layers = 3,
            .heads = 6,
            .kv_heads = 2,
            .head_dimension = 4,
            .inner_width = 28,
            .vocabulary_size = 37,
            .context = 64,
            .tied = true,
            .rotary = {.theta = 500}};
}

/// Random weights: norms around 1, all else around 0.
template <class Scalar = double>
[[nodiscard]] std::shared_ptr<reference::transformer_weights<Scalar>>
toy_weights(const reference::transformer_config& config = toy_config(), unsigned seed = 1) {
    auto weights = std::make_shared<reference::transformer_weights<Scalar>>();
    weights->config = config;
    weights->layers.resize(config.layers);
    std::minstd_rand bits(seed);
    reference::visit_tensors(*weights, [&](const std::string& name, auto& tensor, std::size_t rows,
                                           std::size_t columns) {
        const bool norm = name.ends_with("norm.weight");
        tensor.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
        for (Scalar& w : tensor.reshaped())
            w = static_cast<Scalar>((norm ? 1 : 0) +
                                    (static_cast<double>(bits() % 2001) - 1000) * 5e-4);
    });
    return weights;
}

} // namespace specdec::testing
