// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <variant>

#include <specdec/head/token_list.hpp>
#include <specdec_engine/drafter/feature_norms.hpp>
#include <specdec_engine/transformer/batch.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

/// The weights of a drafter's body that reads features, packed (`quantised`: in Q8_0), in one of
/// two forms:
///
///     head_input     EAGLE-1 and -2, HASS, CORAL: fc [d, 2 d] and layers.0.*, no norm before its
///                    attention; the head is the target's
///     low_mid_high   EAGLE-3 and 3.1: fc [d, 3 d], before it input_norm [3 d] or fc_norm.0 to .2
///                    [d] where feature_norms has one, midlayer.* (layers.0.* of speculators)
///                    whose attention reads 2 d columns, norm, and lm_head of the tokens that d2t
///                    lists
///
/// The embedding is the target's, unless the drafter's files have another.
template <NumberFormat Format>
struct feature_weights {
    using matrix = typename format_parts<Format>::matrix;

    model_config config; ///< of the block; its vocabulary is the target's
    feature_kind kind = feature_kind::head_input;
    feature_norms norms; ///< of low_mid_high
    bool own_embedding = false;
    matrix fuse; ///< fc
    block_weights<Format> block;
    /// Empty where there is none; norms of tokens and features go before attention, `final` behind.
    aligned_vector<float> fuse_bias, token_norm, feature_norm, final_norm;
    std::array<aligned_vector<float>, 3> fuse_norms; ///< of each feature; of all: the first
    matrix head;                                     ///< [kept, d]; no rows: the target's
    matrix embedding;                                ///< [vocabulary, d]; no rows: the target's
    std::optional<token_list<draft_id>> kept;        ///< rows of the head, where it is its own

    feature_weights() = default;
    feature_weights(const feature_weights&) = delete;
    feature_weights& operator=(const feature_weights&) = delete;

    /// Length of what attention reads.
    [[nodiscard]] std::size_t attention_columns() const {
        return (kind == feature_kind::head_input ? 1 : 2) * config.dimension;
    }
    /// Length of what fc reads.
    [[nodiscard]] std::size_t fuse_columns() const {
        return (kind == feature_kind::head_input ? 2 : 3) * config.dimension;
    }
    [[nodiscard]] std::size_t parameters() const {
        const std::size_t d = config.dimension;
        return d * fuse_columns() + block_weights<Format>::parameters(config, attention_columns()) +
               (fuse_bias.empty() ? 0 : d) + (kept ? (kept->size() + 3) * d : 0) +
               (norms.before_fc == fuse_norm::none ? 0 : 3 * d) + embedding.rows() * d;
    }
    /// Bytes of matrices that a place reads, without any head or embedding.
    [[nodiscard]] std::size_t bytes() const { return fuse.bytes() + block.bytes(); }

    /// Zeros for the configuration.
    void allocate() {
        const std::size_t d = config.dimension;
        memory_ = allocate_matrices<Format>([&](const auto& take) {
            fuse = take(d, fuse_columns(), dtype::q8_0);
            block.allocate(config, attention_columns(), {}, take);
            head = take(kept ? kept->size() : 0, d, dtype::q8_0);
            embedding = take(own_embedding ? config.vocabulary_size : 0, d, dtype::q8_0);
        });
        if (kind == feature_kind::head_input)
            return;
        for (aligned_vector<float>* norm : {&token_norm, &feature_norm, &final_norm})
            norm->resize(column_stride(d));
        if (norms.before_fc == fuse_norm::whole)
            fuse_norms[0].resize(column_stride(3 * d));
        else if (norms.before_fc == fuse_norm::each)
            for (aligned_vector<float>& norm : fuse_norms)
                norm.resize(column_stride(d));
    }

private:
    aligned_vector<typename format_parts<Format>::unit> memory_;
};

/// The same in the number format of some target.
using any_feature_weights = std::variant<std::shared_ptr<const feature_weights<float>>,
                                         std::shared_ptr<const feature_weights<bf16_bits>>,
                                         std::shared_ptr<const feature_weights<quantised>>>;

} // namespace specdec::engine
