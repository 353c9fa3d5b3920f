// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

#include <specdec/head/token_list.hpp>
#include <specdec/reference/transformer/batch.hpp>
#include <specdec/reference/transformer/weights.hpp>

namespace specdec::reference {

/// The weights of a drafter's body that reads features, packed, in one of two forms:
///
///     head_input     EAGLE-1 and -2, HASS, CORAL: fc [d, 2 d] and layers.0.*, no norm before its
///                    attention; embedding and head are the target's
///     low_mid_high   EAGLE-3: fc [d, 3 d], midlayer.* whose attention reads 2 d columns, norm, and
///                    lm_head of the tokens that d2t lists
template <PanelValue Value>
struct feature_weights {
    model_config config; ///< of the block; its vocabulary is the target's
    feature_kind kind = feature_kind::head_input;
    panel_matrix<Value> fuse; ///< fc
    block_weights<Value> block;
    /// Empty where there is none; norms of tokens and features go before attention, `final` behind.
    aligned_vector<float> fuse_bias, token_norm, feature_norm, final_norm;
    panel_matrix<Value> head;                 ///< [kept, d]; no rows: the target's
    std::optional<token_list<draft_id>> kept; ///< rows of the head, where it is its own

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
        return d * fuse_columns() + block_weights<Value>::parameters(config, attention_columns()) +
               (fuse_bias.empty() ? 0 : d) + (kept ? (kept->size() + 3) * d : 0);
    }
    /// Bytes of matrices that a place reads, without any head.
    [[nodiscard]] std::size_t bytes() const {
        return fuse.bytes() +
               block_weights<Value>::footprint(config, attention_columns()) * sizeof(Value);
    }

    /// Zeros for the configuration.
    void allocate() {
        using matrix = panel_matrix<Value>;
        const model_config& c = config;
        const std::size_t d = c.dimension;
        const std::size_t own = kept ? kept->size() : 0;
        memory_.resize(matrix::footprint(d, fuse_columns()) +
                       block_weights<Value>::footprint(c, attention_columns()) +
                       matrix::footprint(own, d));
        std::size_t taken = 0;
        const auto take = [&](std::size_t rows, std::size_t columns) {
            const matrix m(memory_.data() + taken, rows, columns);
            taken += matrix::footprint(rows, columns);
            return m;
        };
        fuse = take(d, fuse_columns());
        block.allocate(c, attention_columns(), take);
        head = take(own, d);
        if (kind == feature_kind::head_input)
            return;
        for (aligned_vector<float>* norm : {&token_norm, &feature_norm, &final_norm})
            norm->resize(column_stride(d));
    }

private:
    aligned_vector<Value> memory_;
};

} // namespace specdec::reference
