// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <specdec_engine/attention/kv_cache.hpp>

namespace specdec::engine {

/// Keys and values of the nodes of a tree behind a sequence's context. A path of them is laid into
/// the cache, behind the context, where attention reads it (path_layer) or it stays (keep).
template <class Cache>
class node_rows {
    using Value = typename Cache::node;

public:
    node_rows(std::size_t layers, std::size_t heads, std::size_t head_dimension)
        : layers_(layers), heads_(heads), d_(head_dimension) {}

    /// Room for nodes 0 .. n - 1. Allocates where there are more than ever before.
    void reserve(std::size_t n) {
        if (n * node_size() > rows_.size())
            rows_.resize(n * node_size());
    }

    /// Stores one head of a node.
    void write(std::size_t layer, std::size_t head, std::size_t node, const float* key,
               const float* value) {
        Value* const to = &rows_[at(layer, head, node)];
        for (std::size_t i = 0; i < d_; ++i) {
            to[i] = round_to<Value>(key[i]);
            to[d_ + i] = round_to<Value>(value[i]);
        }
    }
    /// One head of a node, at a position of the cache.
    void lay(std::size_t layer, std::size_t head, std::size_t node, Cache& cache,
             std::size_t position) const {
        const Value* const from = &rows_[at(layer, head, node)];
        cache.write(layer, head, position, from, from + d_);
    }
    /// All of a node.
    void lay(std::size_t node, Cache& cache, std::size_t position) const {
        for (std::size_t layer = 0; layer < layers_; ++layer)
            for (std::size_t head = 0; head < heads_; ++head)
                lay(layer, head, node, cache, position);
    }

private:
    [[nodiscard]] std::size_t node_size() const { return layers_ * heads_ * 2 * d_; }
    [[nodiscard]] std::size_t at(std::size_t layer, std::size_t head, std::size_t node) const {
        return node * node_size() + (layer * heads_ + head) * 2 * d_;
    }

    std::size_t layers_, heads_, d_;
    std::vector<Value> rows_; ///< [nodes][layers][heads][key, value][head dimension]
};

/// Lays the paths of a tree into one head of a cache, one after the other. Only what differs from
/// the path before is written.
class path_layer {
public:
    /// Another head, or another sequence: nothing is laid.
    void begin() { laid_.clear(); }

    /// The path of a node that stands at `position`, behind the context's positions.
    template <class Cache>
    void lay(const node_rows<Cache>& nodes, const std::vector<std::size_t>& parents,
             std::size_t node, std::size_t position, std::size_t context, std::size_t layer,
             std::size_t head, Cache& cache) {
        laid_.resize(position + 1 - context, none);
        for (std::size_t i = laid_.size(); i-- > 0; node = parents[node])
            if (laid_[i] != node) {
                nodes.lay(layer, head, node, cache, context + i);
                laid_[i] = node;
            }
        cache.clear_behind(layer, head, position + 1);
    }

private:
    static constexpr auto none = std::size_t(-1);

    std::vector<std::size_t> laid_; ///< the nodes behind the context, by depth
};

} // namespace specdec::engine
