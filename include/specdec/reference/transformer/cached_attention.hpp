// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/reference/attention/attention.hpp>
#include <specdec/reference/attention/kv_cache.hpp>
#include <specdec/reference/attention/node_rows.hpp>
#include <specdec/reference/attention/rotary.hpp>
#include <specdec/reference/kernel/elementwise.hpp>
#include <specdec/reference/kernel/number_format.hpp>
#include <specdec/reference/transformer/activations.hpp>
#include <specdec/reference/transformer/batch.hpp>

namespace specdec::reference {

/// The attention of a transformer's blocks and the caches of its sequences, in pieces that a team
/// shares out. Tokens: those of a pass; those of a sequence stand together, in order.
template <NumberFormat Format>
class cached_attention {
    using cached = typename format_parts<Format>::cached;
    using stored = typename format_parts<Format>::stored;

public:
    cached_attention(const model_config& c, std::size_t sequences, std::size_t capacity,
                     isa instructions)
        : d_(c.head_dimension), heads_(c.kv_heads), group_(c.heads / c.kv_heads),
          kernels_(panel_kernels_for<cached>(instructions)),
          functions_(column_functions_for<cached>(instructions)),
          caches_(sequences, kv_cache<cached>(c.layers, heads_, d_, capacity)),
          nodes_(sequences, node_rows<cached>(c.layers, heads_, d_)),
          rotary_(c.rotary, d_, capacity) {}

    /// Before the first of these: nodes of trees need memory. Allocates where a tree has more than
    /// any before.
    void make_room(std::span<const token_place> tokens) {
        for (const token_place& at : tokens)
            if (at.tree != nullptr)
                nodes_[at.sequence].reserve(at.node + 1);
    }
    /// The context of a sequence goes on with this node of its tree, at this position.
    void keep(std::size_t sequence, std::size_t node, std::size_t position) {
        nodes_[sequence].lay(node, caches_[sequence], position);
    }

    /// Turns queries and keys; stores keys and values. Piece i: key/value head i / n, token i % n.
    /// Queries [kv head][position][head of group].
    void turn_and_store(std::size_t layer, std::span<const token_place> tokens, std::size_t i,
                        activations<Format>& a, float* turned) {
        const std::size_t n = tokens.size(), head = i / n, c = i % n;
        const token_place& at = tokens[c];
        kv_cache<cached>& cache = caches_[at.sequence];
        const float* q = &a.qkv[c * a.qkv_stride] + head * group_ * d_;
        const float* k = &a.qkv[c * a.qkv_stride] + heads_ * group_ * d_ + head * d_;
        const float scale = 1.0F / std::sqrt(static_cast<float>(d_));
        for (std::size_t g = 0; g < group_; ++g) {
            rotary_.turn(q + g * d_, at.position, turned);
            cached* query = &a.queries[((head * n + c) * group_ + g) * a.head_stride];
            functions_.scale(turned, scale, a.head_stride, query);
        }
        rotary_.turn(k, at.position, turned);
        if (at.tree != nullptr) {
            nodes_[at.sequence].write(layer, head, at.node, turned, k + heads_ * d_);
            return;
        }
        cache.write(layer, head, at.position, turned, k + heads_ * d_);
        if (c + 1 == n || tokens[c + 1].sequence != at.sequence)
            cache.clear_behind(layer, head, at.position + 1);
    }

    /// A key/value head's queries in one line, sorted by token, cut into tiles: pieces of all
    /// heads. Of nodes a head is one piece: their paths take turns in its cache.
    [[nodiscard]] std::size_t pieces(std::span<const token_place> tokens) const {
        return any_nodes(tokens) ? heads_ : heads_ * tiles_of_head(tokens.size());
    }
    /// Bytes that one of them reads.
    [[nodiscard]] std::size_t piece_bytes(std::span<const token_place> tokens) const {
        std::size_t seen = 0;
        for (const token_place& at : tokens)
            seen = std::max(seen, at.position + 1);
        return 2 * seen * d_ * sizeof(cached) * (any_nodes(tokens) ? tokens.size() : 1);
    }
    /// Piece i: its queries' outputs into `attended`.
    void attend_piece(std::size_t layer, std::span<const token_place> tokens, std::size_t i,
                      activations<Format>& a, typename activations<Format>::private_memory& mine,
                      const column_functions<stored>& functions) {
        if (any_nodes(tokens))
            attend_paths(layer, tokens, i, a, mine, functions);
        else
            attend_tile(layer, tokens, i, a, mine.attention, functions);
    }

private:
    /// Those of each sequence together.
    void attend_tile(std::size_t layer, std::span<const token_place> tokens, std::size_t i,
                     activations<Format>& a, attention_scratch<cached>& scratch,
                     const column_functions<stored>& functions) const {
        const std::size_t n = tokens.size(), tiles = tiles_of_head(n), head = i / tiles;
        std::size_t first = i % tiles * tile_columns;
        const std::size_t end = std::min(first + tile_columns, n * group_);
        while (first < end)
            first += attend_some(layer, tokens, head, first, end, a, scratch, functions);
    }
    /// Chains of tokens, each behind the path that leads to it.
    void attend_paths(std::size_t layer, std::span<const token_place> tokens, std::size_t head,
                      activations<Format>& a, typename activations<Format>::private_memory& mine,
                      const column_functions<stored>& functions) {
        for (std::size_t c = 0; c < tokens.size();) {
            const std::size_t end = end_of_chain(tokens, c);
            const token_place& last = tokens[end - 1];
            if (c == 0 || last.sequence != tokens[c - 1].sequence)
                mine.paths.begin();
            if (last.tree != nullptr)
                mine.paths.lay(nodes_[last.sequence], last.tree->parents, last.node, last.position,
                               last.context(), layer, head, caches_[last.sequence]);
            for (std::size_t first = c * group_; first < end * group_;)
                first += attend_some(layer, tokens, head, first,
                                     std::min(first + tile_columns, end * group_), a,
                                     mine.attention, functions);
            c = end;
        }
    }
    /// A head's queries from `first` on that belong to one sequence, below `end`. Returns how many.
    std::size_t attend_some(std::size_t layer, std::span<const token_place> tokens,
                            std::size_t head, std::size_t first, std::size_t end,
                            activations<Format>& a, attention_scratch<cached>& scratch,
                            const column_functions<stored>& functions) const {
        std::size_t positions[tile_columns];
        const std::size_t n = tokens.size();
        const std::size_t count = positions_of_one(tokens, group_, first, end, positions);
        attend(kernels_, functions_, caches_[tokens[first / group_].sequence], layer, head,
               &a.queries[(head * n * group_ + first) * a.head_stride], a.head_stride, count,
               positions, scratch,
               [&](std::size_t j, std::size_t from, float scale, const float* y) {
                   const std::size_t q = head * group_ + (first + j) % group_;
                   stored* out = &a.attended[(first + j) / group_ * a.attended_stride] + q * d_;
                   functions.scale(y, scale, std::min(panel_rows, d_ - from), out + from);
               });
        return count;
    }

    [[nodiscard]] std::size_t tiles_of_head(std::size_t n) const {
        return (n * group_ + tile_columns - 1) / tile_columns;
    }

    std::size_t d_, heads_, group_; ///< of a head; key/value heads; query heads of each
    panel_kernels<cached> kernels_;
    column_functions<cached> functions_;
    std::vector<kv_cache<cached>> caches_; ///< [sequences]
    std::vector<node_rows<cached>> nodes_; ///< [sequences]
    rotary_table rotary_;
};

} // namespace specdec::reference
