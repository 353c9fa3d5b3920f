// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min, std::copy_n
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <specdec/reference/kernel/elementwise.hpp>
#include <specdec/reference/kernel/thread_team.hpp>
#include <specdec/reference/transformer/activations.hpp>
#include <specdec/reference/transformer/attention.hpp>
#include <specdec/reference/transformer/batch.hpp>
#include <specdec/reference/transformer/kv_cache.hpp>
#include <specdec/reference/transformer/rotary.hpp>
#include <specdec/reference/transformer/weights.hpp>

namespace specdec::reference {

/// The blocks of a Llama-family transformer (Touvron et al., arXiv 2302.13971; RMSNorm before each
/// half of a block, rotary embedding, grouped-query attention, SwiGLU), for up to `chunk` positions
/// at once, of one sequence or of several, and the caches they fill: what whole models and bodies
/// of drafters are made of.
///
/// A team shares out the rows of each product and the heads of attention: six loops a block. Every
/// position goes through the same operations in the same order whatever its group and the number
/// of threads: bit for bit the same results. Allocates in the constructor only.
template <PanelValue Value>
class transformer_blocks {
public:
    /// Positions that go through the blocks together: whole tiles of the kernel.
    static constexpr std::size_t chunk = 8 * tile_columns;
    /// Below so many bytes of weights read (a position each) one thread is faster.
    static constexpr std::size_t one_thread_bytes = std::size_t{3} << 20;
    /// So many bytes are worth being taken by another thread.
    static constexpr std::size_t share_bytes = std::size_t{1} << 14;

    /// An input of a product: a column each, padded with zeros.
    struct columns {
        const Value* data = nullptr;
        std::size_t stride = 0;
    };

    transformer_blocks(const model_config& config, std::size_t sequences, std::size_t capacity,
                       std::shared_ptr<thread_team> team, isa instructions)
        : config_(config), kernels_(panel_kernels_for<Value>(instructions)),
          functions_(column_functions_for<Value>(instructions)), team_(std::move(team)),
          caches_(sequences,
                  kv_cache<Value>(config.layers, config.kv_heads, config.head_dimension, capacity)),
          rotary_(config.rotary, config.head_dimension, capacity),
          a_(config, chunk, capacity, team_->size()) {}

    [[nodiscard]] const panel_kernels<Value>& kernels() const { return kernels_; }
    [[nodiscard]] const std::shared_ptr<thread_team>& team() const { return team_; }

    /// The residual stream of position c of a pass, [dimension]: given before the first block.
    [[nodiscard]] std::span<float> residual(std::size_t c) {
        return {&a_.residual[c * a_.dimension_stride], config_.dimension};
    }
    /// Before the loops of a pass that reads so many bytes of weights for each of n positions.
    void begin(std::size_t bytes, std::size_t n) { alone_ = bytes * n < one_thread_bytes; }

    /// Puts up to `chunk` tokens into a block's cache and adds the block to their residuals.
    /// `given`: what attention reads instead of the residual, normed. `whole`: false where nobody
    /// reads what the block adds. Precondition: a sequence's tokens stand together, in order; all
    /// before them are in its cache.
    void run(std::size_t layer, const block_weights<Value>& block,
             std::span<const token_place> tokens, bool whole = true, columns given = {}) {
        project_qkv(block, tokens.size(), given);
        turn_and_store(layer, tokens);
        if (!whole)
            return;
        attend_all(layer, tokens);
        add_product(block.output, a_.attended.data(), a_.attended_stride, tokens.size());
        swiglu(block, tokens.size());
        add_product(block.down, a_.hidden.data(), a_.hidden_stride, tokens.size());
    }

    /// out[c * stride ..] = W x of position c, panels of 32 rows whole: x(share) gives the input.
    template <class Input>
    void multiply_all(const panel_matrix<Value>& w, std::size_t n, const Input& x, float* out,
                      std::size_t stride) {
        share_out(w, n, [&](team_share s) {
            const columns input = x(s);
            multiply(kernels_, w, s, input.data, input.stride, n,
                     [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                         for (std::size_t i = 0; i < count; ++i)
                             std::copy_n(y + i * panel_rows, panel_rows,
                                         out + (first + i) * stride + row);
                     });
        });
    }

    /// The residual, normed: each member makes its own, which is cheaper than a loop.
    columns normed(team_share s, const aligned_vector<float>& weight, std::size_t n) {
        Value* const out = a_.of_member[s.member].normed.data();
        for (std::size_t c = 0; s.first && c < n; ++c)
            functions_.rms_norm(&a_.residual[c * a_.dimension_stride], weight.data(),
                                config_.dimension, config_.rms_epsilon,
                                out + c * a_.dimension_stride);
        return {out, a_.dimension_stride};
    }
    /// The same as numbers, [dimension] each.
    void give_normed(const aligned_vector<float>& weight, std::size_t n, float* out,
                     std::size_t stride) {
        const columns x = normed({}, weight, n);
        for (std::size_t c = 0; c < n; ++c)
            for (std::size_t k = 0; k < config_.dimension; ++k)
                out[c * stride + k] = widen(x.data[c * x.stride + k]);
    }

private:
    /// A loop of n items that read so many bytes each.
    template <class Work>
    void share_out(std::size_t n, std::size_t bytes, const Work& work) {
        team_->run(n, alone_ ? n : std::max<std::size_t>(1, share_bytes / bytes), work);
    }
    /// The same over the panels of W, for n columns.
    template <class Work>
    void share_out(const panel_matrix<Value>& w, std::size_t n, const Work& work) {
        share_out(w.panels(), n * w.panel_bytes(0).size(), work);
    }

    void project_qkv(const block_weights<Value>& block, std::size_t n, columns given) {
        const float* bias = block.qkv_bias.empty() ? nullptr : block.qkv_bias.data();
        share_out(block.qkv, n, [&](team_share s) {
            const columns x = given.data != nullptr ? given : normed(s, block.attention_norm, n);
            multiply(kernels_, block.qkv, s, x.data, x.stride, n,
                     [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                         for (std::size_t i = 0; i < count; ++i) {
                             auto out =
                                 column(&a_.qkv[(first + i) * a_.qkv_stride + row], panel_rows);
                             out = column(y + i * panel_rows, panel_rows);
                             if (bias != nullptr)
                                 out += column(bias + row, panel_rows);
                         }
                     });
        });
    }

    /// Turns queries and keys; stores keys and values. Queries [kv head][position][head of group].
    void turn_and_store(std::size_t layer, std::span<const token_place> tokens) {
        const std::size_t n = tokens.size();
        const std::size_t d = config_.head_dimension;
        const std::size_t group = config_.heads / config_.kv_heads;
        const float scale = 1.0F / std::sqrt(static_cast<float>(d));
        share_out(config_.kv_heads * n, (group + 2) * d * sizeof(float), [&](team_share s) {
            float* const turned = a_.of_member[s.member].turned.data();
            for (std::size_t i = s.begin; i < s.end; ++i) {
                const std::size_t head = i / n;
                const std::size_t c = i % n;
                const token_place& at = tokens[c];
                kv_cache<Value>& cache = caches_[at.sequence];
                const float* q = &a_.qkv[c * a_.qkv_stride] + head * group * d;
                const float* k = &a_.qkv[c * a_.qkv_stride] + config_.query_size() + head * d;
                for (std::size_t g = 0; g < group; ++g) {
                    rotary_.turn(q + g * d, at.position, turned);
                    Value* query = &a_.queries[((head * n + c) * group + g) * a_.head_stride];
                    functions_.scale(turned, scale, a_.head_stride, query);
                }
                rotary_.turn(k, at.position, turned);
                cache.write(layer, head, at.position, turned, k + config_.kv_size());
                if (c + 1 == n || tokens[c + 1].sequence != at.sequence)
                    cache.clear_behind(layer, head, at.position + 1);
            }
        });
    }

    /// A key/value head's queries in one line, sorted by token, cut into tiles.
    void attend_all(std::size_t layer, std::span<const token_place> tokens) {
        const std::size_t group = config_.heads / config_.kv_heads;
        const std::size_t per_head = tokens.size() * group;
        const std::size_t tiles = (per_head + tile_columns - 1) / tile_columns;
        std::size_t seen = 0;
        for (const token_place& at : tokens)
            seen = std::max(seen, at.position + 1);
        const std::size_t bytes = 2 * seen * config_.head_dimension * sizeof(Value);
        share_out(config_.kv_heads * tiles, bytes, [&](team_share s) {
            for (std::size_t i = s.begin; i < s.end; ++i) {
                const std::size_t first = i % tiles * tile_columns;
                attend_tile(layer, tokens, i / tiles, first,
                            std::min(first + tile_columns, per_head),
                            a_.of_member[s.member].attention);
            }
        });
    }

    /// Queries `first` to `end` of a head, those of each sequence together.
    void attend_tile(std::size_t layer, std::span<const token_place> tokens, std::size_t head,
                     std::size_t first, std::size_t end, attention_scratch<Value>& scratch) {
        const std::size_t d = config_.head_dimension;
        const std::size_t group = config_.heads / config_.kv_heads;
        while (first < end) {
            std::size_t positions[tile_columns];
            const std::size_t count = positions_of_one(tokens, group, first, end, positions);
            attend(kernels_, functions_, caches_[tokens[first / group].sequence], layer, head,
                   &a_.queries[(head * tokens.size() * group + first) * a_.head_stride],
                   a_.head_stride, count, positions, scratch,
                   [&](std::size_t j, std::size_t from, float scale, const float* y) {
                       const std::size_t q = head * group + (first + j) % group;
                       Value* out = &a_.attended[(first + j) / group * a_.attended_stride] + q * d;
                       functions_.scale(y, scale, std::min(panel_rows, d - from), out + from);
                   });
            first += count;
        }
    }

    /// residual += W x.
    void add_product(const panel_matrix<Value>& w, const Value* x, std::size_t stride,
                     std::size_t n) {
        share_out(w, n, [&](team_share s) {
            multiply(kernels_, w, s, x, stride, n,
                     [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                         for (std::size_t i = 0; i < count; ++i)
                             column(&a_.residual[(first + i) * a_.dimension_stride + row],
                                    panel_rows) += column(y + i * panel_rows, panel_rows);
                     });
        });
    }

    /// hidden = silu(W1 x) * (W3 x): a panel holds 16 rows of each. Its exponentials wait until all
    /// panels of a share are read: between two of them they would stall the stream of weights.
    void swiglu(const block_weights<Value>& block, std::size_t n) {
        share_out(block.gate_up, n, [&](team_share s) {
            const columns x = normed(s, block.ffn_norm, n);
            multiply(kernels_, block.gate_up, s, x.data, x.stride, n,
                     [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                         std::copy_n(y, count * panel_rows,
                                     &a_.gate_up[row * n + first * panel_rows]);
                     });
            for (std::size_t p = s.begin; p < s.end; ++p)
                functions_.swiglu(&a_.gate_up[p * n * panel_rows], n,
                                  &a_.hidden[p * panel_rows / 2], a_.hidden_stride);
        });
    }

    model_config config_;
    panel_kernels<Value> kernels_;
    column_functions<Value> functions_;
    std::shared_ptr<thread_team> team_;
    bool alone_ = false;                  ///< no thread of the team is worth waking for this pass
    std::vector<kv_cache<Value>> caches_; ///< [sequences]
    rotary_table rotary_;
    activations<Value> a_;
};

} // namespace specdec::reference
