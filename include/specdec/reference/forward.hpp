// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <specdec/reference/attention.hpp>
#include <specdec/reference/batch.hpp>
#include <specdec/reference/elementwise.hpp>
#include <specdec/reference/kv_cache.hpp>
#include <specdec/reference/rotary.hpp>
#include <specdec/reference/threads.hpp>
#include <specdec/reference/weights.hpp>

namespace specdec::reference {

/// The forward pass of a Llama-family transformer (Touvron et al., arXiv 2302.13971; RMSNorm before
/// each half of a block, rotary embedding, grouped-query attention, SwiGLU), for up to
/// `chunk` positions at once, of one sequence or of several, and the caches it fills.
///
/// Threads split the rows of each product; six barriers a block. Every position goes through the
/// same operations in the same order whatever its group and the number of threads: bit for bit the
/// same logits. Allocates in the constructor only.
template <PanelValue Value>
class forward_pass {
public:
    /// Positions that go through the layers together: whole tiles of the kernel.
    static constexpr std::size_t chunk = 8 * tile_columns;
    /// Below so many bytes of weights read (a position each) one thread is faster.
    static constexpr std::size_t one_thread_bytes = std::size_t{3} << 20;

    /// `capacity`: positions of each of the `sequences`.
    forward_pass(std::shared_ptr<const model_weights<Value>> weights, std::size_t sequences,
                 std::size_t capacity, std::size_t threads, isa instructions)
        : weights_(std::move(weights)), kernels_(panel_kernels_for<Value>(instructions)),
          functions_(column_functions_for<Value>(instructions)), threads_(threads),
          caches_(sequences, kv_cache<Value>(config().layers, config().kv_heads,
                                             config().head_dimension, capacity)),
          rotary_(config().rotary, config().head_dimension, capacity),
          residual_(chunk * dimension_stride()), qkv_(chunk * qkv_stride()),
          queries_(chunk * config().heads * head_stride()), attended_(chunk * attended_stride()),
          gate_up_(chunk * 2 * hidden_stride()), hidden_(chunk * hidden_stride()) {
        for (std::size_t t = 0; t < threads; ++t)
            scratch_.emplace_back(*this, capacity);
    }

    [[nodiscard]] const model_weights<Value>& weights() const { return *weights_; }
    [[nodiscard]] std::shared_ptr<const model_weights<Value>> shared_weights() const {
        return weights_;
    }
    [[nodiscard]] const panel_kernels<Value>& kernels() const { return kernels_; }

    /// Puts up to `chunk` tokens into the caches. Their logits go to logits
    /// [tokens.size()][stride], stride >= vocabulary rounded up to 32; nullptr: no head.
    /// Precondition: a sequence's tokens stand together, in order; all before them are in its
    /// cache.
    void run(std::span<const token_place> tokens, float* logits, std::size_t stride) {
        const bool small = weights_->forward_bytes() * tokens.size() < one_thread_bytes;
        run_team(small ? 1 : threads_, [&](team_member me) { work(me, tokens, logits, stride); });
    }

private:
    /// What a thread has to itself.
    struct private_memory {
        private_memory(const forward_pass& f, std::size_t capacity)
            : normed(chunk * f.dimension_stride()), turned(f.head_stride()), attention(capacity) {}
        aligned_vector<Value> normed; ///< [chunk][dimension stride]
        aligned_vector<float> turned; ///< one head
        attention_scratch<Value> attention;
    };

    [[nodiscard]] const model_config& config() const { return weights_->config; }
    [[nodiscard]] std::size_t dimension_stride() const { return round_up(config().dimension, 32); }
    [[nodiscard]] std::size_t qkv_stride() const {
        return round_up(config().query_size() + 2 * config().kv_size(), panel_rows);
    }
    [[nodiscard]] std::size_t head_stride() const { return column_stride(config().head_dimension); }
    [[nodiscard]] std::size_t attended_stride() const {
        return round_up(config().query_size(), 32);
    }
    [[nodiscard]] std::size_t hidden_stride() const {
        return column_stride(config().hidden_dimension);
    }

    void work(team_member me, std::span<const token_place> tokens, float* logits,
              std::size_t logits_stride) {
        const std::size_t n = tokens.size();
        private_memory& own = scratch_[me.rank];
        const share columns = me.share_of(n);
        for (std::size_t c = columns.begin; c < columns.end; ++c)
            weights_->embedding.read_row(static_cast<std::size_t>(tokens[c].id),
                                         {&residual_[c * dimension_stride()], config().dimension});
        me.barrier();
        for (std::size_t layer = 0; layer < config().layers; ++layer) {
            const block_weights<Value>& block = weights_->blocks[layer];
            project_qkv(me, own, block, n);
            me.barrier();
            turn_and_store(me, own, layer, tokens);
            me.barrier();
            // Without logits nobody reads what the last block adds to the residual.
            if (logits == nullptr && layer + 1 == config().layers)
                return;
            attend_all(me, own, layer, tokens);
            me.barrier();
            add_product(me, block.output, attended_.data(), attended_stride(), n);
            me.barrier();
            swiglu(me, own, block, n);
            me.barrier();
            add_product(me, block.down, hidden_.data(), hidden_stride(), n);
            me.barrier();
        }
        if (logits == nullptr)
            return;
        norm(own, weights_->final_norm, n);
        multiply(kernels_, weights_->head, own.normed.data(), dimension_stride(), n, me,
                 [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                     for (std::size_t i = 0; i < count; ++i)
                         std::copy_n(y + i * panel_rows, panel_rows,
                                     logits + (first + i) * logits_stride + row);
                 });
    }

    /// Each thread for itself: cheaper than a barrier.
    void norm(private_memory& own, const aligned_vector<float>& weight, std::size_t n) const {
        for (std::size_t c = 0; c < n; ++c)
            functions_.rms_norm(&residual_[c * dimension_stride()], weight.data(),
                                config().dimension, config().rms_epsilon,
                                &own.normed[c * dimension_stride()]);
    }

    void project_qkv(team_member me, private_memory& own, const block_weights<Value>& block,
                     std::size_t n) {
        norm(own, block.attention_norm, n);
        const float* bias = block.qkv_bias.empty() ? nullptr : block.qkv_bias.data();
        multiply(kernels_, block.qkv, own.normed.data(), dimension_stride(), n, me,
                 [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                     for (std::size_t i = 0; i < count; ++i) {
                         auto out = column(&qkv_[(first + i) * qkv_stride() + row], panel_rows);
                         out = column(y + i * panel_rows, panel_rows);
                         if (bias != nullptr)
                             out += column(bias + row, panel_rows);
                     }
                 });
    }

    /// Turns queries and keys; stores keys and values. Queries [kv head][position][head of group].
    void turn_and_store(team_member me, private_memory& own, std::size_t layer,
                        std::span<const token_place> tokens) {
        const std::size_t n = tokens.size();
        const std::size_t d = config().head_dimension;
        const std::size_t group = config().heads / config().kv_heads;
        const float scale = 1.0F / std::sqrt(static_cast<float>(d));
        const share mine = me.share_of(config().kv_heads * n);
        for (std::size_t i = mine.begin; i < mine.end; ++i) {
            const std::size_t head = i / n;
            const std::size_t c = i % n;
            const token_place& at = tokens[c];
            kv_cache<Value>& cache = caches_[at.sequence];
            const float* q = &qkv_[c * qkv_stride()] + head * group * d;
            const float* k = &qkv_[c * qkv_stride()] + config().query_size() + head * d;
            for (std::size_t g = 0; g < group; ++g) {
                rotary_.turn(q + g * d, at.position, own.turned.data());
                Value* query = &queries_[((head * n + c) * group + g) * head_stride()];
                functions_.scale(own.turned.data(), scale, head_stride(), query);
            }
            rotary_.turn(k, at.position, own.turned.data());
            cache.write(layer, head, at.position, own.turned.data(), k + config().kv_size());
            if (c + 1 == n || tokens[c + 1].sequence != at.sequence)
                cache.clear_behind(layer, head, at.position + 1);
        }
    }

    /// All queries in one line, sorted by key/value head, then token; a thread takes a contiguous
    /// part. A tile's queries share head and sequence.
    void attend_all(team_member me, private_memory& own, std::size_t layer,
                    std::span<const token_place> tokens) {
        const std::size_t d = config().head_dimension;
        const std::size_t group = config().heads / config().kv_heads;
        const std::size_t per_head = tokens.size() * group;
        const share mine = me.share_of(config().kv_heads * per_head);
        for (std::size_t i = mine.begin; i < mine.end;) {
            const std::size_t head = i / per_head;
            const std::size_t end = std::min({i + tile_columns, mine.end, (head + 1) * per_head});
            const std::size_t sequence = tokens[i % per_head / group].sequence;
            std::size_t positions[tile_columns];
            std::size_t count = 0;
            for (; i + count < end; ++count) {
                const token_place& at = tokens[(i + count) % per_head / group];
                if (at.sequence != sequence)
                    break;
                positions[count] = at.position;
            }
            attend(kernels_, functions_, caches_[sequence], layer, head,
                   &queries_[i * head_stride()], head_stride(), count, positions, own.attention,
                   [&](std::size_t j, std::size_t first, float scale, const float* y) {
                       const std::size_t c = (i + j) % per_head / group;
                       const std::size_t q = head * group + (i + j) % group;
                       Value* out = &attended_[c * attended_stride()] + q * d;
                       functions_.scale(y, scale, std::min(panel_rows, d - first), out + first);
                   });
            i += count;
        }
    }

    /// residual += W x.
    void add_product(team_member me, const panel_matrix<Value>& w, const Value* x,
                     std::size_t stride, std::size_t n) {
        multiply(kernels_, w, x, stride, n, me,
                 [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                     for (std::size_t i = 0; i < count; ++i)
                         column(&residual_[(first + i) * dimension_stride() + row], panel_rows) +=
                             column(y + i * panel_rows, panel_rows);
                 });
    }

    /// hidden = silu(W1 x) * (W3 x): a panel holds 16 rows of each. Its exponentials wait until all
    /// panels are read: between two of them they would stall the stream of weights.
    void swiglu(team_member me, private_memory& own, const block_weights<Value>& block,
                std::size_t n) {
        norm(own, block.ffn_norm, n);
        multiply(kernels_, block.gate_up, own.normed.data(), dimension_stride(), n, me,
                 [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                     std::copy_n(y, count * panel_rows, &gate_up_[row * n + first * panel_rows]);
                 });
        const share mine = me.share_of(block.gate_up.panels());
        for (std::size_t p = mine.begin; p < mine.end; ++p)
            functions_.swiglu(&gate_up_[p * n * panel_rows], n, &hidden_[p * panel_rows / 2],
                              hidden_stride());
    }

    std::shared_ptr<const model_weights<Value>> weights_;
    panel_kernels<Value> kernels_;
    column_functions<Value> functions_;
    std::size_t threads_;
    std::vector<kv_cache<Value>> caches_; ///< [sequences]
    rotary_table rotary_;
    aligned_vector<float> residual_; ///< [chunk][dimension stride]
    aligned_vector<float> qkv_;      ///< [chunk][qkv stride]
    aligned_vector<Value> queries_;  ///< [kv head][position][head of group][head stride]
    aligned_vector<Value> attended_; ///< [chunk][attended stride]
    aligned_vector<float> gate_up_;  ///< [panel][column][gate 16, up 16]
    aligned_vector<Value> hidden_;   ///< [chunk][hidden stride]
    std::vector<private_memory> scratch_;
};

} // namespace specdec::reference
