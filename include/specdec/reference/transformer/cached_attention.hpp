// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/reference/kernel/elementwise.hpp>
#include <specdec/reference/kernel/number_format.hpp>
#include <specdec/reference/transformer/activations.hpp>
#include <specdec/reference/transformer/attention.hpp>
#include <specdec/reference/transformer/batch.hpp>
#include <specdec/reference/transformer/kv_cache.hpp>
#include <specdec/reference/transformer/rotary.hpp>

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
          rotary_(c.rotary, d_, capacity) {}

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
        cache.write(layer, head, at.position, turned, k + heads_ * d_);
        if (c + 1 == n || tokens[c + 1].sequence != at.sequence)
            cache.clear_behind(layer, head, at.position + 1);
    }

    /// A key/value head's queries in one line, sorted by token, cut into tiles: pieces of all
    /// heads.
    [[nodiscard]] std::size_t tiles(std::span<const token_place> tokens) const {
        return heads_ * tiles_of_head(tokens.size());
    }
    /// Bytes that one of them reads.
    [[nodiscard]] std::size_t tile_bytes(std::span<const token_place> tokens) const {
        std::size_t seen = 0;
        for (const token_place& at : tokens)
            seen = std::max(seen, at.position + 1);
        return 2 * seen * d_ * sizeof(cached);
    }
    /// Tile i: its queries' outputs into `attended`; those of each sequence together.
    void attend_tile(std::size_t layer, std::span<const token_place> tokens, std::size_t i,
                     activations<Format>& a, attention_scratch<cached>& scratch,
                     const column_functions<stored>& functions) const {
        const std::size_t n = tokens.size(), tiles = tiles_of_head(n), head = i / tiles;
        std::size_t first = i % tiles * tile_columns;
        const std::size_t end = std::min(first + tile_columns, n * group_);
        while (first < end) {
            std::size_t positions[tile_columns];
            const std::size_t count = positions_of_one(tokens, group_, first, end, positions);
            attend(kernels_, functions_, caches_[tokens[first / group_].sequence], layer, head,
                   &a.queries[(head * n * group_ + first) * a.head_stride], a.head_stride, count,
                   positions, scratch,
                   [&](std::size_t j, std::size_t from, float scale, const float* y) {
                       const std::size_t q = head * group_ + (first + j) % group_;
                       stored* out = &a.attended[(first + j) / group_ * a.attended_stride] + q * d_;
                       functions.scale(y, scale, std::min(panel_rows, d_ - from), out + from);
                   });
            first += count;
        }
    }

private:
    [[nodiscard]] std::size_t tiles_of_head(std::size_t n) const {
        return (n * group_ + tile_columns - 1) / tile_columns;
    }

    std::size_t d_, heads_, group_; ///< of a head; key/value heads; query heads of each
    panel_kernels<cached> kernels_;
    column_functions<cached> functions_;
    std::vector<kv_cache<cached>> caches_; ///< [sequences]
    rotary_table rotary_;
};

} // namespace specdec::reference
