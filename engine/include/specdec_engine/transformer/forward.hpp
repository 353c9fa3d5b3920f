// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/team/compiled_once.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/adapters.hpp>
#include <specdec_engine/transformer/batch.hpp>
#include <specdec_engine/transformer/blocks.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

/// The forward pass of a transformer, for up to `chunk` positions at once: embedding, blocks, head.
template <NumberFormat Format>
class forward_pass {
public:
    static constexpr std::size_t chunk = transformer_blocks<Format>::chunk;
    static constexpr std::size_t one_thread_bytes = transformer_blocks<Format>::one_thread_bytes;

    /// `capacity`: positions of each of the `sequences`.
    forward_pass(std::shared_ptr<const model_weights<Format>> weights, std::size_t sequences,
                 std::size_t capacity, std::shared_ptr<thread_pool> team, isa instructions,
                 cache_type cache)
        : weights_(std::move(weights)), instructions_(instructions),
          blocks_(config(), sequences, capacity, std::move(team), instructions, cache),
          adapters_(sequences) {}

    [[nodiscard]] const model_weights<Format>& weights() const { return *weights_; }
    [[nodiscard]] std::shared_ptr<const model_weights<Format>> shared_weights() const {
        return weights_;
    }
    /// Other weights of the same shapes. What the caches hold was computed with those before.
    /// Errors: specdec::error for other shapes, rotary settings or another epsilon, and nothing
    /// changes.
    void use(std::shared_ptr<const model_weights<Format>> weights) {
        const auto shape = [](const model_config& c) {
            return std::array{c.layers, c.vocabulary_size, std::size_t{c.tied}};
        };
        require_as_before(weights != nullptr && shape(weights->config) == shape(config()),
                          "weights", "shapes");
        require_same_arithmetic(config(), weights->config, "weights");
        weights_ = std::move(weights);
    }
    /// What a sequence's passes add from now on, or null: nothing. What its cache holds was
    /// computed with what was added before. Allocates. Errors: specdec::error for adapters of
    /// another shape.
    void adapt(std::size_t sequence, std::shared_ptr<const model_adapters> adapters) {
        require_fits(adapters.get());
        if (adapters != nullptr)
            blocks_.reserve_adapters(adapters->rank());
        adapters_[sequence] = std::move(adapters);
    }
    /// Whether a model of these weights may have them. Errors: specdec::error.
    void require_fits(const model_adapters* adapters) const {
        const auto shape = [](const model_config& c) {
            return std::array{c.layers, c.dimension, c.query_size(), c.kv_size(),
                              c.hidden_dimension};
        };
        require_as_before(adapters == nullptr || (adapters->blocks.size() == config().layers &&
                                                  shape(adapters->config) == shape(config())),
                          "adapters", "shapes");
    }
    [[nodiscard]] const auto& kernels() const { return blocks_.kernels(); }
    [[nodiscard]] isa instructions() const { return instructions_; }
    /// Of keys and values; not `own`.
    [[nodiscard]] cache_type cache() const { return blocks_.cache(); }

    /// Puts up to `chunk` tokens into the caches, and gives what `out` asks for, a row for each.
    /// Precondition: as transformer_blocks::run.
    void run(std::span<const token_place> tokens, const pass_output& out) {
        const std::size_t n = tokens.size(), layers = config().layers;
        blocks_.begin(weights_->forward_bytes(), n);
        for (std::size_t c = 0; c < n; ++c)
            weights_->embed(static_cast<std::size_t>(tokens[c].id), blocks_.residual(c));
        // Without an output nobody reads what the last block adds to the residual.
        const bool whole = out.what != pass_output::kind::nothing ||
                           out.features.which == feature_kind::head_input;
        for (std::size_t layer = 0; layer < layers; ++layer) {
            give_residuals(layer, n, out.features);
            blocks_.begin_adapters(n, [&](std::size_t c) {
                const model_adapters* const x = adapters_[tokens[c].sequence].get();
                return x != nullptr ? &x->blocks[layer] : nullptr;
            });
            blocks_.run(layer, weights_->blocks[layer], tokens, whole || layer + 1 < layers);
        }
        if (out.features.which == feature_kind::head_input)
            blocks_.give_normed(weights_->final_norm, n, out.features.data, out.features.stride);
        if (out.what == pass_output::kind::logits)
            blocks_.multiply_all(
                weights_->head, n,
                [&](pool_share s) { return blocks_.normed(s, weights_->final_norm, n); }, out.data,
                out.stride);
        else if (out.what == pass_output::kind::hidden)
            blocks_.give_normed(weights_->final_norm, n, out.data, out.stride);
    }

    /// See transformer_blocks.
    void keep(std::size_t sequence, std::size_t node, std::size_t position) {
        blocks_.keep(sequence, node, position);
    }
    void copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        blocks_.copy_prefix(to, from, n);
    }

private:
    [[nodiscard]] const model_config& config() const { return weights_->config; }

    /// Those that a block reads which features are made of.
    void give_residuals(std::size_t layer, std::size_t n, const pass_features& out) {
        if (out.which != feature_kind::low_mid_high)
            return;
        const std::array<std::size_t, 3> taken = low_mid_high(config().layers);
        for (std::size_t k = 0; k < taken.size(); ++k)
            for (std::size_t c = 0; taken[k] == layer && c < n; ++c)
                std::copy_n(blocks_.residual(c).begin(), config().dimension,
                            out.data + c * out.stride + k * config().dimension);
    }

    std::shared_ptr<const model_weights<Format>> weights_;
    isa instructions_;
    transformer_blocks<Format> blocks_;
    std::vector<std::shared_ptr<const model_adapters>> adapters_; ///< [sequences]
};

SPECDEC_ONCE(class transformer_blocks<float>);
SPECDEC_ONCE(class transformer_blocks<bf16_bits>);
SPECDEC_ONCE(class transformer_blocks<quantised>);

} // namespace specdec::engine
