// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <specdec_engine/file/config.hpp>
#include <specdec_engine/learn/reverse/parameter_layout.hpp>
#include <specdec_engine/learn/reverse/projection.hpp>

namespace specdec::engine {

/// Where the tensors of a Llama-family model lie in the flat array, under Hugging Face's names.
/// Those that read the same input lie together, so that q, k and v are one matrix, and gate and up.
class model_layout {
public:
    struct block {
        std::size_t attention_norm = 0;
        std::array<std::size_t, 7> matrices = {}; ///< by projection
        std::size_t qkv_bias = 0;                 ///< of q, k, v; only where the model has them
        std::size_t ffn_norm = 0;

        [[nodiscard]] std::size_t matrix(projection p) const { return matrices[number_of(p)]; }
    };

    /// Precondition: check(config). The rotary form is half-split (model_parameters.hpp turns
    /// rows).
    explicit model_layout(const model_config& c) : config_(c), blocks_(c.layers) {
        require_trainable(c, "training");
        config_.rotary.interleaved = false;
        embedding_ = tensors_.add("model.embed_tokens.weight", {c.vocabulary_size, c.dimension});
        for (std::size_t i = 0; i < c.layers; ++i)
            add_block(blocks_[i], i);
        final_norm_ = tensors_.add("model.norm.weight", {c.dimension});
        head_ =
            c.tied ? embedding_ : tensors_.add("lm_head.weight", {c.vocabulary_size, c.dimension});
    }

    [[nodiscard]] const model_config& config() const { return config_; }
    [[nodiscard]] const parameter_layout& tensors() const { return tensors_; }
    [[nodiscard]] std::size_t size() const { return tensors_.size(); }

    [[nodiscard]] std::size_t embedding() const { return embedding_; }
    [[nodiscard]] const block& at(std::size_t layer) const { return blocks_[layer]; }
    [[nodiscard]] std::size_t final_norm() const { return final_norm_; }
    /// The embedding's, where it is tied.
    [[nodiscard]] std::size_t head() const { return head_; }

private:
    void add_block(block& b, std::size_t layer) {
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        const std::size_t d = config_.dimension;
        b.attention_norm = tensors_.add(prefix + "input_layernorm.weight", {d});
        for (const projection p : all_projections) {
            if (p == projection::gate)
                b.ffn_norm = tensors_.add(prefix + "post_attention_layernorm.weight", {d});
            b.matrices[number_of(p)] = tensors_.add(
                module_name(layer, p) + ".weight", {outputs_of(config_, p), inputs_of(config_, p)});
            if (p == projection::v && config_.qkv_bias) {
                b.qkv_bias = tensors_.size();
                for (const projection biased : {projection::q, projection::k, projection::v})
                    tensors_.add(module_name(layer, biased) + ".bias",
                                 {outputs_of(config_, biased)});
            }
        }
    }

    model_config config_;
    parameter_layout tensors_;
    std::vector<block> blocks_;
    std::size_t embedding_ = 0;
    std::size_t final_norm_ = 0;
    std::size_t head_ = 0;
};

} // namespace specdec::engine
