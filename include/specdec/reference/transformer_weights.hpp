// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <specdec/core/error.hpp>
#include <specdec/reference/transformer_config.hpp>

namespace specdec::reference {

/// Row-major, as files have it: a token, or an output of a projection, is a row.
template <std::floating_point Scalar>
using matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <std::floating_point Scalar>
using row_vector = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;

/// A size as Eigen counts.
[[nodiscard]] constexpr Eigen::Index index(std::size_t n) {
    return static_cast<Eigen::Index>(n);
}

/// The weights of one layer.
template <std::floating_point Scalar>
struct layer_weights {
    row_vector<Scalar> attention_norm; ///< d
    matrix<Scalar> query;              ///< H e x d
    matrix<Scalar> key;                ///< G e x d
    matrix<Scalar> value;              ///< G e x d
    row_vector<Scalar> query_bias;     ///< H e; empty without biases, as the next two
    row_vector<Scalar> key_bias;       ///< G e
    row_vector<Scalar> value_bias;     ///< G e
    matrix<Scalar> output;             ///< d x H e
    row_vector<Scalar> mlp_norm;       ///< d
    matrix<Scalar> gate;               ///< f x d
    matrix<Scalar> up;                 ///< f x d
    matrix<Scalar> down;               ///< d x f
};

/// A transformer of the Llama family as plain matrices: fill it, or load it (load_weights.hpp).
template <std::floating_point Scalar>
struct transformer_weights {
    transformer_config config{};
    matrix<Scalar> embedding; ///< V x d
    std::vector<layer_weights<Scalar>> layers;
    row_vector<Scalar> final_norm; ///< d
    matrix<Scalar> head;           ///< V x d; empty where it is tied

    [[nodiscard]] const matrix<Scalar>& lm_head() const { return config.tied ? embedding : head; }
};

/// Calls visit(name, tensor, rows, columns) for each tensor, with its name in Hugging Face's files
/// and the shape that the configuration asks for; 0 columns: there is none. Pre: a layer of the
/// weights for each of the configuration.
template <class Weights, class Visit>
void visit_tensors(Weights& weights, const Visit& visit) {
    const transformer_config& c = weights.config;
    const std::size_t d = c.width, q = c.query_width(), kv = c.kv_width(), f = c.inner_width;
    visit("model.embed_tokens.weight", weights.embedding, c.vocabulary_size, d);
    for (std::size_t l = 0; l < c.layers; ++l) {
        auto& layer = weights.layers[l];
        const std::string at = "model.layers." + std::to_string(l) + ".";
        visit(at + "input_layernorm.weight", layer.attention_norm, 1, d);
        visit(at + "self_attn.q_proj.weight", layer.query, q, d);
        visit(at + "self_attn.k_proj.weight", layer.key, kv, d);
        visit(at + "self_attn.v_proj.weight", layer.value, kv, d);
        visit(at + "self_attn.q_proj.bias", layer.query_bias, 1, c.qkv_bias ? q : 0);
        visit(at + "self_attn.k_proj.bias", layer.key_bias, 1, c.qkv_bias ? kv : 0);
        visit(at + "self_attn.v_proj.bias", layer.value_bias, 1, c.qkv_bias ? kv : 0);
        visit(at + "self_attn.o_proj.weight", layer.output, d, q);
        visit(at + "post_attention_layernorm.weight", layer.mlp_norm, 1, d);
        visit(at + "mlp.gate_proj.weight", layer.gate, f, d);
        visit(at + "mlp.up_proj.weight", layer.up, f, d);
        visit(at + "mlp.down_proj.weight", layer.down, d, f);
    }
    visit("model.norm.weight", weights.final_norm, 1, d);
    visit("lm_head.weight", weights.head, c.tied ? 0 : c.vocabulary_size, c.tied ? 0 : d);
}

/// Errors: specdec::error(source, FIELD, ...) for a configuration that makes no transformer, and
/// for a tensor with another shape than it asks for or with numbers that are not finite.
template <std::floating_point Scalar>
void validate(const transformer_weights<Scalar>& weights,
              const std::string& source = "transformer weights") {
    validate(weights.config, source);
    if (weights.layers.size() != weights.config.layers)
        fail(source, "layers",
             "expected " + std::to_string(weights.config.layers) + ", found " +
                 std::to_string(weights.layers.size()));
    visit_tensors(weights, [&](const std::string& name, const auto& tensor, std::size_t rows,
                               std::size_t columns) {
        if (tensor.rows() != index(rows) || tensor.cols() != index(columns))
            fail(source, "tensor " + name,
                 "expected " + std::to_string(rows) + " x " + std::to_string(columns) +
                     " numbers, found " + std::to_string(tensor.rows()) + " x " +
                     std::to_string(tensor.cols()));
        if (!tensor.allFinite())
            fail(source, "tensor " + name, "expected finite numbers");
    });
}

} // namespace specdec::reference
