// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::fill, std::fill_n, std::max, std::min
#include <cstddef>
#include <limits>

#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/kernel/panels.hpp>

/// Causal grouped-query attention (Ainslie et al., arXiv 2305.13245) of up to attention_queries
/// queries that share one key/value head, in steps. Query i stands at positions[i] and sees the
/// positions up to its own, all of which are in the cache. Each step reads its part of the cache
/// once for all queries; a query's result is the same alone and in any group, bit for bit: masked
/// positions add exact zeros, and sums go on in one order.
namespace specdec::engine {

/// What the steps write, for `queries` queries of a head.
template <class Cache>
struct attention_scratch {
    attention_scratch() = default;
    attention_scratch(std::size_t most, std::size_t capacity, std::size_t dimensions)
        : queries(most), stride(round_up(capacity, panel_rows)), scores(most * stride),
          weights(most * stride), scale(most), sums(2 * most * round_up(dimensions, panel_rows)) {}

    [[nodiscard]] float* sums_of(std::size_t panel, std::size_t query) {
        return &sums[(panel * queries + query) * 2 * panel_rows];
    }

    std::size_t queries = 0, stride = 0;
    aligned_vector<float> scores; ///< [queries][stride]
    aligned_vector<typename Cache::weight> weights;
    aligned_vector<float> scale; ///< of outputs
    aligned_vector<float> sums;  ///< [panels of dimensions][queries][2][32] (multiply_in_pieces)
};

/// One head of a cache, and the queries that it is read for: [n][stride], scaled by 1 / sqrt(head
/// dimension).
template <class Cache>
struct attention_task {
    const Cache& cache;
    std::size_t layer, head;
    const typename Cache::number* queries;
    std::size_t stride, n;
    const std::size_t* positions;
    std::size_t row = 0;                  ///< the first query's in the scratch
    std::size_t window = ~std::size_t{0}; ///< positions that a query sees, its own included

    /// The first position that query i sees.
    [[nodiscard]] std::size_t begin(std::size_t i) const {
        return positions[i] >= window ? positions[i] + 1 - window : 0;
    }
    /// Where steps begin: no query sees a position before. A whole piece of the sums, so that they
    /// go on in the same order wherever they begin.
    [[nodiscard]] std::size_t first() const {
        std::size_t least = begin(0);
        for (std::size_t i = 1; i < n; ++i)
            least = std::min(least, begin(i));
        return least / piece_length * piece_length;
    }
    /// Positions that the last of them sees.
    [[nodiscard]] std::size_t seen() const {
        std::size_t all = 0;
        for (std::size_t i = 0; i < n; ++i)
            all = std::max(all, positions[i] + 1);
        return all;
    }
};

/// The kernels and functions of one instruction set.
template <class Cache>
struct attention_kernels {
    panel_kernels<typename Cache::number> products;
    const column_functions<typename Cache::number>* rounding;
    const column_functions<typename Cache::weight>* weighing;

    explicit attention_kernels(isa set)
        : products(panel_kernels_for<typename Cache::number>(set)),
          rounding(&column_functions_for<typename Cache::number>(set)),
          weighing(&column_functions_for<typename Cache::weight>(set)) {}
};

/// Scores of the 32 positions of a panel.
template <class Cache>
void score_panel(const attention_kernels<Cache>& kernels, const attention_task<Cache>& t,
                 std::size_t panel, attention_scratch<Cache>& scratch) {
    t.cache.score(kernels.products, t.layer, t.head, panel, t.queries, t.stride, t.n,
                  &scratch.scores[t.row * scratch.stride + panel * panel_rows], scratch.stride);
}
/// The weights of query i, of its scores: zeros before its window, from `first` on, and behind its
/// own position. `first`, `seen`: of all that are weighed with it.
template <class Cache>
void soften(const attention_kernels<Cache>& kernels, const attention_task<Cache>& t,
            std::size_t first, std::size_t seen, std::size_t i, attention_scratch<Cache>& scratch) {
    const std::size_t at = (t.row + i) * scratch.stride;
    const std::size_t begin = t.begin(i), line = begin / line_values * line_values;
    float* const scores = &scratch.scores[at];
    typename Cache::weight* const weights = &scratch.weights[at];
    std::fill(scores + line, scores + begin, std::numeric_limits<float>::lowest());
    scratch.scale[t.row + i] =
        kernels.weighing->softmax(scores + line, t.positions[i] + 1 - line,
                                  round_up(seen, line_values) - line, weights + line);
    std::fill(weights + std::min(first, begin), weights + begin, typename Cache::weight{});
}
/// The 32 dimensions of a panel: adds the positions from `first` on, below `end` (the weights'
/// `seen`, or a whole length), to the sums; these begin where `begins` says so.
template <class Cache>
void weigh_panel(const attention_kernels<Cache>& kernels, const attention_task<Cache>& t,
                 std::size_t panel, std::size_t first, std::size_t end, bool begins,
                 attention_scratch<Cache>& scratch) {
    float* const sums = scratch.sums_of(panel, t.row);
    if (begins)
        std::fill_n(sums, t.n * 2 * panel_rows, 0.0F);
    t.cache.weigh(kernels.products, t.layer, t.head, panel, first, end,
                  &scratch.weights[t.row * scratch.stride], scratch.stride, t.n, sums);
}
/// use(query, first dimension, scale, y): 32 dimensions of the output are scale * y.
template <class Cache, class Use>
void give_panel(const attention_task<Cache>& t, std::size_t panel,
                attention_scratch<Cache>& scratch, const Use& use) {
    for (std::size_t i = 0; i < t.n; ++i) {
        float* const y = scratch.sums_of(panel, t.row + i);
        column(y, panel_rows) += column(y + panel_rows, panel_rows);
        use(i, panel * panel_rows, scratch.scale[t.row + i], static_cast<const float*>(y));
    }
}

/// All of it.
template <class Cache, class Use>
void attend(const attention_kernels<Cache>& kernels, const attention_task<Cache>& t,
            attention_scratch<Cache>& scratch, const Use& use) {
    const std::size_t first = t.first(), seen = t.seen();
    for (std::size_t panel = first / panel_rows; panel * panel_rows < seen; ++panel)
        score_panel(kernels, t, panel, scratch);
    for (std::size_t i = 0; i < t.n; ++i)
        soften(kernels, t, first, seen, i, scratch);
    for (std::size_t panel = 0; panel < t.cache.value_panels(); ++panel) {
        weigh_panel(kernels, t, panel, first, seen, true, scratch);
        give_panel(t, panel, scratch, use);
    }
}

} // namespace specdec::engine
