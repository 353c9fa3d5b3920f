// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>

#include <specdec/reference/attention/kv_cache.hpp>
#include <specdec/reference/kernel/elementwise.hpp>
#include <specdec/reference/kernel/panels.hpp>

namespace specdec::reference {

/// Scratch of one thread: scores [6][stride] and their weights in the precision of the panels.
template <PanelValue Value>
struct attention_scratch {
    attention_scratch() = default;
    explicit attention_scratch(std::size_t capacity)
        : stride(round_up(capacity, panel_rows)), scores(tile_columns * stride),
          weights(tile_columns * stride) {}

    std::size_t stride = 0;
    aligned_vector<float> scores;
    aligned_vector<Value> weights;
};

/// Causal grouped-query attention (Ainslie et al., arXiv 2305.13245) of up to six queries that
/// share one key/value head. Query i stands at positions[i] and sees the positions up to its own,
/// all of which are in the cache.
///     queries [n][stride], scaled by 1 / sqrt(head dimension)
///     use(query, first dimension, scale, y): 32 dimensions of the output are scale * y
/// A query's result is the same alone and in any group: masked positions add exact zeros.
template <PanelValue Value, class Use>
void attend(const panel_kernels<Value>& kernels, const column_functions<Value>& functions,
            const kv_cache<Value>& cache, std::size_t layer, std::size_t head, const Value* queries,
            std::size_t stride, std::size_t n, const std::size_t* positions,
            attention_scratch<Value>& scratch, const Use& use) {
    std::size_t seen = 0; // by the last of them
    for (std::size_t i = 0; i < n; ++i)
        seen = std::max(seen, positions[i] + 1);

    for (std::size_t first = 0; first < seen; first += panel_rows)
        multiply_panel(kernels, cache.keys(layer, head, first / panel_rows), cache.key_length(),
                       queries, stride, n, [&](std::size_t c, std::size_t columns, const float* y) {
                           for (std::size_t i = 0; i < columns; ++i)
                               column(scratch.scores.data() + (c + i) * scratch.stride + first,
                                      panel_rows) = column(y + i * panel_rows, panel_rows);
                       });

    float scale[tile_columns];
    for (std::size_t i = 0; i < n; ++i)
        scale[i] = functions.softmax(scratch.scores.data() + i * scratch.stride, positions[i] + 1,
                                     round_up(seen, line_values),
                                     scratch.weights.data() + i * scratch.stride);

    for (std::size_t p = 0; p < cache.value_panels(); ++p)
        multiply_panel(kernels, cache.values(layer, head, p), cache.value_length(seen),
                       scratch.weights.data(), scratch.stride, n,
                       [&](std::size_t c, std::size_t columns, const float* y) {
                           for (std::size_t i = 0; i < columns; ++i)
                               use(c + i, p * panel_rows, scale[c + i], y + i * panel_rows);
                       });
}

} // namespace specdec::reference
