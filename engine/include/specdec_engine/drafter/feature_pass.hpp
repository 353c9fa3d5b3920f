// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec/head/features/features.hpp>
#include <specdec_engine/drafter/feature_weights.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/batch.hpp>
#include <specdec_engine/transformer/blocks.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

/// The forward pass of a drafter's body that reads features, for up to `chunk` places at once. Of a
/// token with embedding e and the feature f behind the token before it,
///
///     head_input     r := fc [e; f];                 attention reads r
///     low_mid_high   r := fc f, or f where it is its own;    attention reads [norm e; norm r]
///
/// with f normed before fc as feature_norms says. The block adds to r (to norm r where
/// before_residual), which is the place's own feature; its hidden state is that, normed where there
/// is a norm after it. With feature_norms::output the own feature is the hidden state. Allocates in
/// the constructor only.
template <NumberFormat Format>
class feature_pass {
    using stored = typename format_parts<Format>::stored;

public:
    static constexpr std::size_t chunk = transformer_blocks<Format>::chunk;

    /// Embeddings are the target's, where the weights have none of their own.
    feature_pass(std::shared_ptr<const feature_weights<Format>> weights,
                 std::shared_ptr<const model_weights<Format>> target, std::size_t sequences,
                 std::size_t capacity, std::shared_ptr<thread_pool> team, isa instructions,
                 cache_type cache)
        : weights_(std::move(weights)), target_(std::move(target)), instructions_(instructions),
          functions_(column_functions_for<stored>(instructions)),
          norms_(column_functions_for<float>(instructions)),
          blocks_(weights_->config, sequences, capacity, std::move(team), instructions, cache,
                  weights_->fuse_columns()),
          stride_(round_up(weights_->fuse_columns() + column_stride(dimension()), 32)),
          given_(chunk * stride_), read_(chunk * stride_), fused_(chunk * fused_stride()),
          line_(column_stride(dimension())), normed_(column_stride(dimension())),
          features_(weights_->fuse_norms[0].size()) {}

    [[nodiscard]] const feature_weights<Format>& weights() const { return *weights_; }
    /// Computes with other weights from the next pass on; the cache is of the old ones. Errors:
    /// specdec::error for other shapes, rotary settings or another epsilon, other places of norms,
    /// and other tokens of an own head, and nothing changes.
    void use(std::shared_ptr<const feature_weights<Format>> weights) {
        const char* const source = "feature weights";
        require_as_before(weights != nullptr && weights->kind == weights_->kind &&
                              weights->bytes() == weights_->bytes() &&
                              weights->parameters() == weights_->parameters(),
                          source, "shapes");
        require_same_arithmetic(weights_->config, weights->config, source);
        require_as_before(weights->norms == weights_->norms, source, "norms");
        require_as_before(weights->kept == weights_->kept, source, "tokens of its head");
        weights_ = std::move(weights);
    }
    [[nodiscard]] std::shared_ptr<const feature_weights<Format>> shared_weights() const {
        return weights_;
    }
    [[nodiscard]] const auto& kernels() const { return blocks_.kernels(); }
    [[nodiscard]] isa instructions() const { return instructions_; }
    [[nodiscard]] const std::shared_ptr<thread_pool>& team() const { return blocks_.team(); }
    [[nodiscard]] std::size_t dimension() const { return weights_->config.dimension; }

    /// Puts the places of tokens[i] and given.rows[i] into the cache; states and own: [tokens,
    /// dimension]. Precondition: as transformer_blocks::run.
    void run(std::span<const token_place> tokens, body_input given, float* states, float* own) {
        const std::size_t n = tokens.size(), d = dimension();
        blocks_.begin(weights_->bytes(), n);
        if (weights_->kind == feature_kind::head_input)
            fuse_both(tokens, given.rows);
        else
            fuse_features(tokens, given);
        blocks_.run(0, weights_->block, tokens, true,
                    {read_.data(), stride_, weights_->attention_columns()});
        for (std::size_t c = 0; c < n; ++c)
            std::copy_n(blocks_.residual(c).begin(), d, own + c * d);
        if (weights_->final_norm.empty())
            std::copy_n(own, n * d, states);
        else
            blocks_.give_normed(weights_->final_norm, n, states, d);
        if (weights_->norms.output)
            std::copy_n(states, n * d, own);
    }

    /// See transformer_blocks.
    void keep(std::size_t sequence, std::size_t node, std::size_t position) {
        blocks_.keep(sequence, node, position);
    }

private:
    [[nodiscard]] std::size_t fused_stride() const { return round_up(dimension(), panel_rows); }

    std::span<const float> embedding(std::int32_t id) {
        const std::span<float> row = std::span(line_).first(dimension());
        const auto& rows = weights_->own_embedding ? weights_->embedding : target_->embedding;
        rows.read_row(static_cast<std::size_t>(id), row);
        return row;
    }
    static void round_into(std::span<const float> from, stored* to) {
        for (std::size_t k = 0; k < from.size(); ++k)
            to[k] = round_to<stored>(from[k]);
    }

    /// Three features as fc reads them.
    void norm_into(std::span<const float> from, stored* to) {
        const float epsilon = weights_->config.rms_epsilon;
        const auto& norms = weights_->fuse_norms;
        const std::size_t d = dimension();
        switch (weights_->norms.before_fc) {
        case fuse_norm::none:
            round_into(from, to);
            break;
        case fuse_norm::whole:
            std::copy_n(from.begin(), 3 * d, features_.begin());
            functions_.rms_norm(features_.data(), norms[0].data(), 3 * d, epsilon, to);
            break;
        case fuse_norm::each:
            for (std::size_t i = 0; i < 3; ++i) {
                std::copy_n(&from[i * d], d, features_.begin());
                functions_.rms_norm(features_.data(), norms[i].data(), d, epsilon, to + i * d);
            }
            break;
        }
    }

    /// The residuals: fc of what is given.
    void fuse(std::size_t n) {
        blocks_.multiply_all(
            weights_->fuse, n,
            [&](pool_share s) {
                return blocks_.inputs(s, {given_.data(), stride_, weights_->fuse_columns()}, n);
            },
            fused_.data(), fused_stride());
        for (std::size_t c = 0; c < n; ++c)
            for (std::size_t k = 0; k < dimension(); ++k)
                blocks_.residual(c)[k] =
                    fused_[c * fused_stride() + k] +
                    (weights_->fuse_bias.empty() ? 0.0F : weights_->fuse_bias[k]);
    }

    void fuse_both(std::span<const token_place> tokens, const hidden_states& features) {
        for (std::size_t c = 0; c < tokens.size(); ++c) {
            round_into(embedding(tokens[c].id), &given_[c * stride_]);
            round_into(features[c].values, &given_[c * stride_ + dimension()]);
        }
        fuse(tokens.size());
        for (std::size_t c = 0; c < tokens.size(); ++c)
            round_into(blocks_.residual(c), &read_[c * stride_]);
    }

    void fuse_features(std::span<const token_place> tokens, body_input given) {
        const std::size_t n = tokens.size(), d = dimension();
        for (std::size_t c = 0; c < n; ++c) {
            if (given.own)
                std::copy_n(given.rows[c].values.begin(), d, blocks_.residual(c).begin());
            else
                norm_into(given.rows[c].values, &given_[c * stride_]);
        }
        if (!given.own)
            fuse(n);
        const float epsilon = weights_->config.rms_epsilon;
        for (std::size_t c = 0; c < n; ++c) {
            stored* const to = &read_[c * stride_];
            (void)embedding(tokens[c].id);
            functions_.rms_norm(line_.data(), weights_->token_norm.data(), d, epsilon, to);
            std::copy_n(blocks_.residual(c).begin(), d, line_.begin());
            functions_.rms_norm(line_.data(), weights_->feature_norm.data(), d, epsilon, to + d);
            if (weights_->norms.before_residual) {
                norms_.rms_norm(line_.data(), weights_->feature_norm.data(), d, epsilon,
                                normed_.data());
                std::copy_n(normed_.begin(), d, blocks_.residual(c).begin());
            }
        }
    }

    std::shared_ptr<const feature_weights<Format>> weights_;
    std::shared_ptr<const model_weights<Format>> target_;
    isa instructions_;
    column_functions<stored> functions_;
    column_functions<float> norms_;
    transformer_blocks<Format> blocks_;
    std::size_t stride_;
    aligned_vector<stored> given_;   ///< [chunk][stride] what fc reads
    aligned_vector<stored> read_;    ///< [chunk][stride] what attention reads
    aligned_vector<float> fused_;    ///< [chunk][dimension, panels whole]
    aligned_vector<float> line_;     ///< a column, padded with zeros
    aligned_vector<float> normed_;   ///< likewise
    aligned_vector<float> features_; ///< what is normed before fc, likewise
};

} // namespace specdec::engine
