// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::all_of, std::copy_n, std::fill_n
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <specdec_engine/attention/attention.hpp>
#include <specdec_engine/attention/node_rows.hpp>
#include <specdec_engine/attention/rotary.hpp>
#include <specdec_engine/file/config.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/transformer/batch.hpp>

namespace specdec::engine {

/// What a block's attention reads and writes: [tokens][stride] each.
template <PanelValue Stored>
struct attention_columns {
    const float* qkv;
    std::size_t qkv_stride;
    Stored* attended;
    std::size_t attended_stride;
    const column_functions<Stored>* functions;
    /// Norms of each head's query and key, a column of a head; null: there are none.
    const float* query_norm = nullptr;
    const float* key_norm = nullptr;
};

/// Keys and values of a transformer's sequences and of the nodes behind them, and the queries of a
/// pass: [kv head][token][head of group][stride].
template <class Cache>
class attention_store {
public:
    /// `chunk`: tokens of a pass at most.
    attention_store(const model_config& c, std::size_t sequences, std::size_t capacity, isa set,
                    std::size_t chunk)
        : d_(c.head_dimension), heads_(c.kv_heads), group_(c.heads / c.kv_heads),
          stride_(round_up(d_, panel_rows)),
          rounding_(&column_functions_for<typename Cache::number>(set)),
          caches_(sequences, Cache(c.layers, heads_, d_, capacity, set)),
          nodes_(sequences, node_rows<Cache>(c.layers, heads_, d_)),
          norms_(&column_functions_for<float>(set)), rotary_(c.rotary, d_, capacity),
          local_rotary_(c.local_rotary ? rotary_table(*c.local_rotary, d_, capacity)
                                       : rotary_table()),
          config_(c), queries_(chunk * c.heads * stride_), zeros_(d_) {}

    [[nodiscard]] std::size_t stride() const { return stride_; } ///< of queries
    [[nodiscard]] std::size_t value_panels() const { return stride_ / panel_rows; }
    [[nodiscard]] const Cache& cache(std::size_t sequence) const { return caches_[sequence]; }
    /// Query q of a head, of those of so many tokens.
    [[nodiscard]] typename Cache::number* query(std::size_t head, std::size_t tokens,
                                                std::size_t q) {
        return &queries_[(head * tokens * group_ + q) * stride_];
    }

    /// The context of a sequence goes on with this node of its tree, at this position.
    void keep(std::size_t sequence, std::size_t node, std::size_t position) {
        nodes_[sequence].lay(node, caches_[sequence], position);
    }
    /// The first n positions of a sequence become those of another one.
    void copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        caches_[to].copy_prefix(caches_[from], n);
    }
    /// The path that leads to a node, behind its context, in one head.
    void lay(const token_place& at, std::size_t layer, std::size_t head, path_layer& paths) {
        paths.lay(nodes_[at.sequence], at.tree->parents, at.node, at.position, at.context(), layer,
                  head, caches_[at.sequence]);
    }

    /// Before turn_and_store. Allocates where a tree has more nodes than any before.
    void make_room(std::span<const token_place> tokens) {
        for (const token_place& at : tokens)
            if (at.tree != nullptr)
                nodes_[at.sequence].reserve(at.node + 1);
    }
    /// Norms and turns the queries and the key of a token and head, as the model does, and stores
    /// key and value. `turned`: memory of two queries, whose padding is zero.
    template <PanelValue Stored>
    void turn_and_store(std::size_t layer, std::span<const token_place> tokens, std::size_t head,
                        std::size_t c, const attention_columns<Stored>& columns, float* turned) {
        const token_place& at = tokens[c];
        Cache& cache = caches_[at.sequence];
        const float* const qkv = columns.qkv + c * columns.qkv_stride;
        const float* q = qkv + head * group_ * d_;
        const float* k = qkv + heads_ * group_ * d_ + head * d_;
        const float scale = config_.query_scale > 0.0F ? config_.query_scale
                                                       : 1.0F / std::sqrt(static_cast<float>(d_));
        for (std::size_t g = 0; g < group_; ++g) {
            turn(layer, at.position, q + g * d_, columns.query_norm, turned);
            rounding_->scale(turned, scale, stride_, query(head, tokens.size(), c * group_ + g));
        }
        turn(layer, at.position, k, columns.key_norm, turned);
        const float* v = k + heads_ * d_;
        // Tokens before it in the pass read its value, too, with a weight of zero, and 0 * infinity
        // is a NaN. Its key tells those that see it.
        const auto is_kept = [](float x) {
            return std::isfinite(widen(round_to<typename Cache::node>(x)));
        };
        if (!std::all_of(v, v + d_, is_kept)) {
            std::fill_n(turned, d_, std::numeric_limits<float>::quiet_NaN());
            v = zeros_.data();
        }
        if (at.tree != nullptr) {
            nodes_[at.sequence].write(layer, head, at.node, turned, v);
            return;
        }
        cache.write(layer, head, at.position, turned, v);
        if (c + 1 == tokens.size() || tokens[c + 1].sequence != at.sequence)
            cache.clear_behind(layer, head, at.position + 1);
    }

private:
    /// One head, normed and turned; `turned`: memory of two.
    void turn(std::size_t layer, std::size_t position, const float* head, const float* norm,
              float* turned) const {
        if (norm != nullptr) { // in whole lines, whose padding is zero
            float* const normed = turned + stride_;
            std::copy_n(head, d_, normed);
            norms_->rms_norm(normed, norm, d_, config_.rms_epsilon, normed);
            head = normed;
        }
        switch (config_.kind(layer)) {
        case layer_kind::full:
            return rotary_.turn(head, position, turned);
        case layer_kind::window:
            return (config_.local_rotary ? local_rotary_ : rotary_).turn(head, position, turned);
        case layer_kind::unrotated:
            std::copy_n(head, d_, turned);
        }
    }

    std::size_t d_, heads_, group_, stride_;
    const column_functions<typename Cache::number>* rounding_;
    std::vector<Cache> caches_;           ///< [sequences]
    std::vector<node_rows<Cache>> nodes_; ///< [sequences]
    const column_functions<float>* norms_;
    rotary_table rotary_, local_rotary_;
    model_config config_;
    aligned_vector<typename Cache::number> queries_;
    std::vector<float> zeros_; ///< a head
};

} // namespace specdec::engine
