// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec_engine/file/config.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/kernel/number_format.hpp>
#include <specdec_engine/kernel/panels.hpp>

namespace specdec::engine {

/// The types of a block's matrices, and of a model's: what `quantised` ones are kept in.
struct block_types {
    dtype qkv = dtype::q8_0, output = dtype::q8_0, gate_up = dtype::q8_0, down = dtype::q8_0;
};
struct model_types {
    std::vector<block_types> blocks; ///< empty: Q8_0 all
    dtype head = dtype::q8_0, embedding = dtype::q8_0;
};

/// One transformer block. Norms and biases are columns (padded with zeros to whole lines).
template <NumberFormat Format>
struct block_weights {
    using matrix = typename format_parts<Format>::matrix;

    matrix qkv;    ///< [(heads + 2 kv_heads) head dimension, dimension]: one product
    matrix output; ///< [dimension, heads * head dimension]
    /// [2 * hidden, dimension]: panels of 16 gate rows and the 16 up rows of the same units, so
    /// that the thread that has a panel can finish its units.
    matrix gate_up;
    matrix down; ///< [dimension, hidden]
    aligned_vector<float> attention_norm;
    aligned_vector<float> ffn_norm;
    aligned_vector<float> qkv_bias; ///< empty where there is none
    /// Of the queries and keys of every head; empty where there are none.
    aligned_vector<float> query_norm, key_norm;
    /// Of what is added to the residual; empty where there are none.
    aligned_vector<float> post_attention_norm, post_ffn_norm;

    /// Of the matrices.
    [[nodiscard]] std::size_t bytes() const {
        return qkv.bytes() + output.bytes() + gate_up.bytes() + down.bytes();
    }
    /// Numbers of a block without its attention's norm; attention reads columns of that length.
    [[nodiscard]] static std::size_t parameters(const model_config& c, std::size_t columns) {
        return qkv_rows(c) * columns + c.dimension * c.query_size() +
               3 * c.hidden_dimension * c.dimension + c.dimension + (c.qkv_bias ? qkv_rows(c) : 0) +
               (c.qk_norm ? 2 * c.head_dimension : 0) + (c.post_norms ? 2 * c.dimension : 0);
    }
    /// Zeros, without an attention norm: take(rows, columns, type) gives memory for a matrix.
    template <class Take>
    void allocate(const model_config& c, std::size_t columns, const block_types& types,
                  const Take& take) {
        qkv = take(qkv_rows(c), columns, types.qkv);
        output = take(c.dimension, c.query_size(), types.output);
        gate_up = take(round_up(c.hidden_dimension, 16) * 2, c.dimension, types.gate_up);
        down = take(c.dimension, c.hidden_dimension, types.down);
        ffn_norm.resize(column_stride(c.dimension));
        if (c.qkv_bias)
            qkv_bias.resize(round_up(qkv_rows(c), panel_rows));
        for (aligned_vector<float>* const norm : {&query_norm, &key_norm})
            norm->resize(c.qk_norm ? column_stride(c.head_dimension) : 0);
        for (aligned_vector<float>* const norm : {&post_attention_norm, &post_ffn_norm})
            norm->resize(c.post_norms ? column_stride(c.dimension) : 0);
    }

private:
    static std::size_t qkv_rows(const model_config& c) { return c.query_size() + 2 * c.kv_size(); }
};

/// Zeros for matrices, one behind the other: lay_out(take) asks take(rows, columns, type) for each,
/// twice, first to count.
template <NumberFormat Format, class LayOut>
[[nodiscard]] aligned_vector<typename format_parts<Format>::unit>
allocate_matrices(const LayOut& lay_out) {
    using parts = format_parts<Format>;
    aligned_vector<typename parts::unit> memory;
    std::size_t taken = 0;
    const auto take = [&](std::size_t rows, std::size_t columns, dtype type) {
        const std::size_t at = taken;
        taken += parts::footprint(rows, columns, type);
        return parts::place(memory.empty() ? nullptr : memory.data() + at, rows, columns, type);
    };
    lay_out(take);
    memory.resize(taken);
    taken = 0;
    lay_out(take);
    return memory;
}

/// All weights of a model, packed: matrices lie one behind the other in the order a forward pass
/// reads them. Immutable once loaded; contexts share them.
template <NumberFormat Format>
class model_weights {
public:
    using matrix = typename format_parts<Format>::matrix;
    using unit = typename format_parts<Format>::unit;

    /// Allocates zeros for the configuration. Not movable: the matrices point into `memory_`.
    explicit model_weights(const model_config& c, const model_types& types = {})
        : config(c), blocks(c.layers) {
        memory_ = allocate_matrices<Format>([&](const auto& take) {
            for (std::size_t i = 0; i < c.layers; ++i)
                blocks[i].allocate(c, c.dimension,
                                   types.blocks.empty() ? block_types{} : types.blocks[i], take);
            head = take(c.vocabulary_size, c.dimension, types.head);
            embedding = c.tied ? head : take(c.vocabulary_size, c.dimension, types.embedding);
        });
        for (block_weights<Format>& b : blocks)
            b.attention_norm.resize(column_stride(c.dimension));
        final_norm.resize(column_stride(c.dimension));
    }
    model_weights(const model_weights&) = delete;
    model_weights& operator=(const model_weights&) = delete;

    /// What the first block reads of a token: its row of the embedding, scaled.
    void embed(std::size_t id, std::span<float> out) const {
        embedding.read_row(id, out);
        if (config.embedding_scale != 1.0F)
            for (float& x : out)
                x *= config.embedding_scale;
    }

    /// Bytes of matrices that a forward pass of one position reads (with the head).
    [[nodiscard]] std::size_t forward_bytes() const {
        return memory_.size() * sizeof(unit) - (config.tied ? 0 : embedding.bytes());
    }
    [[nodiscard]] std::size_t parameters() const {
        const model_config& c = config;
        const std::size_t block = block_weights<Format>::parameters(c, c.dimension) + c.dimension;
        return c.layers * block + (1 + exit_norms.size()) * c.dimension +
               (c.tied ? 1U : 2U) * c.vocabulary_size * c.dimension;
    }
    /// The packed matrices as they lie in memory: what a plain read of the weights reads.
    [[nodiscard]] std::span<const unit> memory() const { return memory_; }

    model_config config;
    std::vector<block_weights<Format>> blocks;
    aligned_vector<float> final_norm;
    /// Of all exits but the last; empty: theirs is final_norm, too.
    std::vector<aligned_vector<float>> exit_norms;
    matrix head;      ///< [vocabulary, dimension]
    matrix embedding; ///< the same matrix where it is tied

private:
    aligned_vector<unit> memory_;
};

} // namespace specdec::engine
