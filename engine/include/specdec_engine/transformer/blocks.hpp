// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::copy_n, std::fill_n
#include <concepts>  // std::same_as
#include <cstddef>
#include <memory>
#include <span>
#include <utility> // std::in_place_type, std::move
#include <variant>

#include <specdec_engine/attention/cache_type.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/activations.hpp>
#include <specdec_engine/transformer/adapters.hpp>
#include <specdec_engine/transformer/batch.hpp>
#include <specdec_engine/transformer/cached_attention.hpp>
#include <specdec_engine/transformer/inputs.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

/// The blocks of a transformer of the Llama family (Touvron et al., arXiv 2302.13971; RMSNorm
/// before each half of a block, rotary embedding, grouped-query attention, SwiGLU), or of one that
/// differs from it by what model_config says (Qwen 3, Gemma 3, SmolLM3), for up to `chunk`
/// positions at once, of one sequence or of several, and the caches they fill: what whole models
/// and bodies of drafters are made of.
///
/// A team shares out the rows of each product and the heads of attention: six loops a block. Every
/// position goes through the same operations in the same order whatever its group and the number
/// of threads: bit for bit the same results. Allocates in the constructor only.
template <NumberFormat Format>
class transformer_blocks {
    using parts = format_parts<Format>;
    using matrix = typename parts::matrix;
    using stored = typename parts::stored;

public:
    /// Positions that go through the blocks together: whole tiles of the kernel.
    static constexpr std::size_t chunk = 8 * tile_columns;
    /// Below so many bytes of weights read (a position each) one thread is faster.
    static constexpr std::size_t one_thread_bytes = std::size_t{3} << 20;
    /// So many bytes are worth being taken by another thread.
    static constexpr std::size_t share_bytes = std::size_t{1} << 14;

    /// `given`: the length of other columns that products read.
    transformer_blocks(const model_config& config, std::size_t sequences, std::size_t capacity,
                       std::shared_ptr<thread_pool> team, isa instructions, cache_type cache,
                       std::size_t given = 0)
        : config_(config), kernels_(parts::kernels_for(instructions)),
          inputs_(std::max({config.dimension, config.query_size(), config.hidden_dimension, given}),
                  instructions),
          team_(std::move(team)), cache_(cache != cache_type::own      ? cache
                                         : std::same_as<Format, float> ? cache_type::f32
                                                                       : cache_type::bf16),
          attention_(attention_of(sequences, capacity, instructions)),
          norms_(&column_functions_for<float>(instructions)),
          a_(config, chunk, inputs_.stride(), team_->size()) {}

    [[nodiscard]] const typename parts::kernels& kernels() const { return kernels_; }
    [[nodiscard]] const std::shared_ptr<thread_pool>& team() const { return team_; }
    /// Of keys and values; not `own`.
    [[nodiscard]] cache_type cache() const { return cache_; }

    /// The residual stream of position c of a pass, [dimension]: given before the first block.
    [[nodiscard]] std::span<float> residual(std::size_t c) {
        return {&a_.residual[c * a_.dimension_stride], config_.dimension};
    }
    /// Before the loops of a pass that reads so many bytes of weights for each of n positions.
    void begin(std::size_t bytes, std::size_t n) {
        alone_ = bytes * n < one_thread_bytes;
        // Norms read whole lines, and 0 * infinity of a token before is a NaN.
        for (std::size_t c = 0; c < n; ++c)
            std::fill_n(residual(c).end(), a_.dimension_stride - config_.dimension, 0.0F);
    }

    /// Room for adapters of that rank (the largest of a packed matrix). Allocates.
    void reserve_adapters(std::size_t rank) { adapted_.reserve(chunk, rank); }
    /// Before a block: of(c), the adapters in it of position c of n, or null.
    template <class Of>
    void begin_adapters(std::size_t n, const Of& of) {
        adapted_.begin(n, of);
    }

    /// Puts up to `chunk` tokens into a block's cache and adds the block to their residuals.
    /// `given`: what attention reads instead of the residual, normed. `whole`: false where nobody
    /// reads what the block adds. Precondition: a sequence's tokens stand together, in order; all
    /// before them are in its cache; nodes stand behind their parents.
    void run(std::size_t layer, const block_weights<Format>& block,
             std::span<const token_place> tokens, bool whole = true,
             stored_columns<Format> given = {});

    /// The caches of a sequence go on with this node of its tree, at this position.
    void keep(std::size_t sequence, std::size_t node, std::size_t position) {
        std::visit([&](auto& a) { a.keep(sequence, node, position); }, attention_);
    }
    /// The first n positions of a sequence become those of another one.
    void copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        std::visit([&](auto& a) { a.copy_prefix(to, from, n); }, attention_);
    }

    /// out[c * stride ..] = W x of position c, panels of 32 rows whole: x(share) gives the input.
    template <class Input>
    void multiply_all(const matrix& w, std::size_t n, const Input& x, float* out,
                      std::size_t stride) {
        share_out(w, n, [&](pool_share s) {
            const input_columns<Format> input = x(s);
            multiply(kernels_, w, s, input.data, input.stride, n,
                     [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                         for (std::size_t i = 0; i < count; ++i)
                             std::copy_n(y + i * panel_rows, panel_rows,
                                         out + (first + i) * stride + row);
                     });
        });
    }

    /// Given columns as a product reads them.
    input_columns<Format> inputs(pool_share s, stored_columns<Format> x, std::size_t n) {
        return inputs_.make(x, n, s.first, a_.of_member[s.member].input.data());
    }
    /// The residual, normed: each member makes its own, which is cheaper than a loop.
    input_columns<Format> normed(pool_share s, const aligned_vector<float>& weight, std::size_t n) {
        auto& mine = a_.of_member[s.member];
        for (std::size_t c = 0; s.first && c < n; ++c)
            inputs_.norm(&a_.residual[c * a_.dimension_stride], weight, config_.dimension,
                         config_.rms_epsilon, mine.line.data(),
                         mine.input.data() + c * inputs_.stride());
        return {mine.input.data(), inputs_.stride()};
    }
    /// The same as numbers, [dimension] each: those that inputs are made of.
    void give_normed(const aligned_vector<float>& weight, std::size_t n, float* out,
                     std::size_t stride) {
        stored* const line = a_.of_member[0].line.data();
        for (std::size_t c = 0; c < n; ++c) {
            inputs_.functions().rms_norm(&a_.residual[c * a_.dimension_stride], weight.data(),
                                         config_.dimension, config_.rms_epsilon, line);
            for (std::size_t k = 0; k < config_.dimension; ++k)
                out[c * stride + k] = widen(line[k]);
        }
    }

private:
    /// A loop of n items that read so many bytes each.
    template <class Work>
    void share_out(std::size_t n, std::size_t bytes, const Work& work) {
        team_->run(n, alone_ ? n : std::max<std::size_t>(1, share_bytes / bytes), work);
    }
    /// The same over the panels of W, for n columns.
    template <class Work>
    void share_out(const matrix& w, std::size_t n, const Work& work) {
        share_out(w.panels(), n * w.panel_bytes(0).size(), work);
    }

    /// A x of the positions that have adapters of this matrix, whose inputs are the residual,
    /// normed.
    void reduce_normed(low_rank block_adapters::*adapters, const aligned_vector<float>& weight,
                       std::size_t n) {
        if (!adapted_.any(adapters, n))
            return;
        share_out(n, config_.dimension * low_rank::lanes * sizeof(float), [&](pool_share s) {
            stored* const line = a_.of_member[s.member].line.data();
            for (std::size_t c = s.begin; c < s.end; ++c)
                if (adapted_.has(adapters, c)) {
                    inputs_.functions().rms_norm(&a_.residual[c * a_.dimension_stride],
                                                 weight.data(), config_.dimension,
                                                 config_.rms_epsilon, line);
                    adapted_.reduce(adapters, c, std::span<const stored>(line, config_.dimension));
                }
        });
    }
    /// The same of columns that are given.
    void reduce(low_rank block_adapters::*adapters, stored_columns<Format> given, std::size_t n) {
        if (!adapted_.any(adapters, n))
            return;
        share_out(n, given.length * low_rank::lanes * sizeof(float), [&](pool_share s) {
            for (std::size_t c = s.begin; c < s.end; ++c)
                if (adapted_.has(adapters, c))
                    adapted_.reduce(adapters, c,
                                    std::span(given.data + c * given.stride, given.length));
        });
    }

    void project_qkv(const block_weights<Format>& block, std::size_t n,
                     stored_columns<Format> given) {
        const float* bias = block.qkv_bias.empty() ? nullptr : block.qkv_bias.data();
        if (given.data == nullptr)
            reduce_normed(&block_adapters::qkv, block.attention_norm, n);
        share_out(block.qkv, n, [&](pool_share s) {
            const input_columns<Format> x =
                given.data != nullptr ? inputs(s, given, n) : normed(s, block.attention_norm, n);
            multiply(kernels_, block.qkv, s, x.data, x.stride, n,
                     [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                         for (std::size_t i = 0; i < count; ++i) {
                             auto out =
                                 column(&a_.qkv[(first + i) * a_.qkv_stride + row], panel_rows);
                             out = column(y + i * panel_rows, panel_rows);
                             if (bias != nullptr)
                                 out += column(bias + row, panel_rows);
                             adapted_.add(&block_adapters::qkv, first + i, row, out.data());
                         }
                     });
        });
    }

    /// Keys and values into the caches; `whole`: outputs, too.
    void attend(std::size_t layer, const block_weights<Format>& block,
                std::span<const token_place> tokens, bool whole) {
        attention_columns<stored> columns{a_.qkv.data(), a_.qkv_stride, a_.attended.data(),
                                          a_.attended_stride, &inputs_.functions()};
        if (config_.qk_norm) {
            columns.query_norm = block.query_norm.data();
            columns.key_norm = block.key_norm.data();
        }
        const auto share = [this](std::size_t n, std::size_t bytes, const auto& work) {
            this->share_out(n, bytes, work);
        };
        std::visit(
            [&](auto& attention) {
                attention.store(layer, tokens, columns, share);
                if (whole)
                    attention.attend(layer, tokens, columns, share);
            },
            attention_);
    }

    /// residual += W x, or += norm(W x) where there is a norm. `adapters`: those of W.
    void add_product(const matrix& w, low_rank block_adapters::*adapters,
                     stored_columns<Format> given, std::size_t n,
                     const aligned_vector<float>& norm) {
        reduce(adapters, given, n);
        if (!norm.empty())
            return add_normed_product(w, adapters, given, n, norm);
        share_out(w, n, [&](pool_share s) {
            const input_columns<Format> x = inputs(s, given, n);
            multiply(kernels_, w, s, x.data, x.stride, n,
                     [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                         for (std::size_t i = 0; i < count; ++i) {
                             float* const out =
                                 &a_.residual[(first + i) * a_.dimension_stride + row];
                             column(out, panel_rows) += column(y + i * panel_rows, panel_rows);
                             adapted_.add(adapters, first + i, row, out);
                         }
                     });
        });
    }

    void add_normed_product(const matrix& w, low_rank block_adapters::*adapters,
                            stored_columns<Format> given, std::size_t n,
                            const aligned_vector<float>& norm) {
        const std::size_t stride = a_.dimension_stride;
        multiply_all(
            w, n, [&](pool_share s) { return inputs(s, given, n); }, a_.added.data(), stride);
        share_out(n, 4 * stride * sizeof(float), [&](pool_share s) {
            for (std::size_t c = s.begin; c < s.end; ++c) {
                float* const x = &a_.added[c * stride];
                for (std::size_t row = 0; row < config_.dimension; row += panel_rows)
                    adapted_.add(adapters, c, row, x + row);
                norms_->rms_norm(x, norm.data(), config_.dimension, config_.rms_epsilon, x);
                column(&a_.residual[c * stride], column_stride(config_.dimension)) +=
                    column(x, column_stride(config_.dimension));
            }
        });
    }

    /// hidden = silu(W1 x) * (W3 x), or gelu: a panel holds 16 rows of each. Its exponentials wait
    /// until all panels of a share are read: between two of them they would stall the stream of
    /// weights.
    void gated_product(const block_weights<Format>& block, std::size_t n) {
        const auto gate = config_.gelu ? inputs_.functions().geglu : inputs_.functions().swiglu;
        reduce_normed(&block_adapters::gate_up, block.ffn_norm, n);
        share_out(block.gate_up, n, [&](pool_share s) {
            const input_columns<Format> x = normed(s, block.ffn_norm, n);
            multiply(kernels_, block.gate_up, s, x.data, x.stride, n,
                     [&](std::size_t row, std::size_t first, std::size_t count, const float* y) {
                         float* const out = &a_.gate_up[row * n + first * panel_rows];
                         std::copy_n(y, count * panel_rows, out);
                         for (std::size_t i = 0; i < count; ++i)
                             adapted_.add(&block_adapters::gate_up, first + i, row,
                                          out + i * panel_rows);
                     });
            for (std::size_t p = s.begin; p < s.end; ++p)
                gate(&a_.gate_up[p * n * panel_rows], n, &a_.hidden[p * panel_rows / 2],
                     a_.hidden_stride);
        });
    }

    using any_attention = std::variant<cached_attention<stored, kv_cache<float>>,
                                       cached_attention<stored, kv_cache<bf16_bits>>,
                                       cached_attention<stored, q8_cache>>;

    [[nodiscard]] any_attention attention_of(std::size_t sequences, std::size_t capacity,
                                             isa set) const;

    model_config config_;
    typename parts::kernels kernels_;
    input_maker<Format> inputs_;
    std::shared_ptr<thread_pool> team_;
    bool alone_ = false; ///< no thread of the team is worth waking for this pass
    cache_type cache_;
    any_attention attention_;
    const column_functions<float>* norms_; ///< of what is added
    activations<Format> a_;
    adapted_positions adapted_;
};

template <NumberFormat Format>
void transformer_blocks<Format>::run(std::size_t layer, const block_weights<Format>& block,
                                     std::span<const token_place> tokens, bool whole,
                                     stored_columns<Format> given) {
    project_qkv(block, tokens.size(), given);
    attend(layer, block, tokens, whole);
    if (!whole)
        return;
    add_product(block.output, &block_adapters::output,
                {a_.attended.data(), a_.attended_stride, config_.query_size()}, tokens.size(),
                block.post_attention_norm);
    gated_product(block, tokens.size());
    add_product(block.down, &block_adapters::down,
                {a_.hidden.data(), a_.hidden_stride, config_.hidden_dimension}, tokens.size(),
                block.post_ffn_norm);
}

template <NumberFormat Format>
auto transformer_blocks<Format>::attention_of(std::size_t sequences, std::size_t capacity,
                                              isa set) const -> any_attention {
    const auto make = [&]<class Cache>(std::in_place_type_t<Cache>) {
        return any_attention(std::in_place_type<cached_attention<stored, Cache>>, config_,
                             sequences, capacity, set, chunk, team_->size());
    };
    if (cache_ == cache_type::f32)
        return make(std::in_place_type<kv_cache<float>>);
    if (cache_ == cache_type::bf16)
        return make(std::in_place_type<kv_cache<bf16_bits>>);
    return make(std::in_place_type<q8_cache>);
}

} // namespace specdec::engine
