// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/reference/file/config.hpp>
#include <specdec/reference/kernel/aligned_allocator.hpp>
#include <specdec/reference/kernel/elementwise.hpp>
#include <specdec/reference/kernel/panels.hpp>

namespace specdec::reference {

/// One transformer block. Norms and biases are columns (padded with zeros to whole lines).
template <PanelValue Value>
struct block_weights {
    panel_matrix<Value> qkv;    ///< [(heads + 2 kv_heads) head dimension, dimension]: one product
    panel_matrix<Value> output; ///< [dimension, heads * head dimension]
    /// [2 * hidden, dimension]: panels of 16 gate rows and the 16 up rows of the same units, so
    /// that the thread that has a panel can finish its units.
    panel_matrix<Value> gate_up;
    panel_matrix<Value> down; ///< [dimension, hidden]
    aligned_vector<float> attention_norm;
    aligned_vector<float> ffn_norm;
    aligned_vector<float> qkv_bias; ///< empty where there is none

    /// Values of the matrices; attention reads columns of that length.
    [[nodiscard]] static std::size_t footprint(const model_config& c, std::size_t columns) {
        using matrix = panel_matrix<Value>;
        return matrix::footprint(qkv_rows(c), columns) +
               matrix::footprint(c.dimension, c.query_size()) +
               matrix::footprint(gate_up_rows(c), c.dimension) +
               matrix::footprint(c.dimension, c.hidden_dimension);
    }
    /// Numbers of a block without its attention's norm.
    [[nodiscard]] static std::size_t parameters(const model_config& c, std::size_t columns) {
        return qkv_rows(c) * columns + c.dimension * c.query_size() +
               3 * c.hidden_dimension * c.dimension + c.dimension + (c.qkv_bias ? qkv_rows(c) : 0);
    }
    /// Zeros, without an attention norm: take(rows, columns) gives memory for a matrix.
    template <class Take>
    void allocate(const model_config& c, std::size_t columns, const Take& take) {
        qkv = take(qkv_rows(c), columns);
        output = take(c.dimension, c.query_size());
        gate_up = take(gate_up_rows(c), c.dimension);
        down = take(c.dimension, c.hidden_dimension);
        ffn_norm.resize(column_stride(c.dimension));
        if (c.qkv_bias)
            qkv_bias.resize(round_up(qkv_rows(c), panel_rows));
    }

private:
    static std::size_t qkv_rows(const model_config& c) { return c.query_size() + 2 * c.kv_size(); }
    static std::size_t gate_up_rows(const model_config& c) {
        return round_up(c.hidden_dimension, 16) * 2;
    }
};

/// All weights of a model, packed: matrices lie one behind the other in the order a forward pass
/// reads them. Immutable once loaded; contexts share them.
template <PanelValue Value>
class model_weights {
    using matrix = panel_matrix<Value>;

public:
    /// Allocates zeros for the configuration. Not movable: the matrices point into `memory_`.
    explicit model_weights(const model_config& c) : config(c), memory_(total(c)) {
        blocks.resize(c.layers);
        for (block_weights<Value>& b : blocks) {
            b.allocate(c, c.dimension, [this](std::size_t rows, std::size_t columns) {
                return take(rows, columns);
            });
            b.attention_norm.resize(column_stride(c.dimension));
        }
        final_norm.resize(column_stride(c.dimension));
        head = take(c.vocabulary_size, c.dimension);
        embedding = c.tied ? head : take(c.vocabulary_size, c.dimension);
    }
    model_weights(const model_weights&) = delete;
    model_weights& operator=(const model_weights&) = delete;

    /// Row of gate_up for the gate of a hidden unit; its up row lies 16 further.
    [[nodiscard]] static constexpr std::size_t gate_row(std::size_t unit) {
        return unit / 16 * panel_rows + unit % 16;
    }

    /// Bytes of matrices that a forward pass of one position reads (with the head).
    [[nodiscard]] std::size_t forward_bytes() const {
        return memory_.size() * sizeof(Value) - (config.tied ? 0 : embedding.bytes());
    }
    [[nodiscard]] std::size_t parameters() const {
        const model_config& c = config;
        const std::size_t block = block_weights<Value>::parameters(c, c.dimension) + c.dimension;
        return c.layers * block + (1 + exit_norms.size()) * c.dimension +
               (c.tied ? 1U : 2U) * c.vocabulary_size * c.dimension;
    }
    /// The packed matrices as they lie in memory: what a plain read of the weights reads.
    [[nodiscard]] std::span<const Value> memory() const { return memory_; }

    model_config config;
    std::vector<block_weights<Value>> blocks;
    aligned_vector<float> final_norm;
    /// Of all exits but the last; empty: theirs is final_norm, too.
    std::vector<aligned_vector<float>> exit_norms;
    matrix head;      ///< [vocabulary, dimension]
    matrix embedding; ///< the same matrix where it is tied

private:
    static std::size_t total(const model_config& c) {
        return c.layers * block_weights<Value>::footprint(c, c.dimension) +
               (c.tied ? 1U : 2U) * matrix::footprint(c.vocabulary_size, c.dimension);
    }
    matrix take(std::size_t rows, std::size_t columns) {
        const matrix result(memory_.data() + taken_, rows, columns);
        taken_ += matrix::footprint(rows, columns);
        return result;
    }

    aligned_vector<Value> memory_;
    std::size_t taken_ = 0;
};

} // namespace specdec::reference
