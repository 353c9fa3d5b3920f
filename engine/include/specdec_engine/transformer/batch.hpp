// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::ranges::any_of
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// What a pass over several sequences is given.
namespace specdec::engine {

/// New tokens of one sequence; nodes of its tree where they have parents.
struct sequence_part {
    std::size_t sequence = 0;
    std::span<const std::int32_t> ids;
    std::span<const std::size_t> parents{};
};

/// The nodes behind a sequence's context, of all calls since it changed.
struct tree_nodes {
    std::vector<std::size_t> parents, depths; ///< of each node; tree_root, 0 behind the context

    [[nodiscard]] std::size_t size() const { return parents.size(); }
    /// Room for so many more. Allocates where there are more than ever before.
    void reserve(std::size_t more) {
        parents.reserve(size() + more);
        depths.reserve(size() + more);
    }
    /// Precondition: the parent is an earlier node, or none.
    void add(std::size_t parent) {
        depths.push_back(parent < size() ? depths[parent] + 1 : 0);
        parents.push_back(parent);
    }
    /// Forgets all but the first n nodes.
    void truncate(std::size_t n) {
        parents.resize(n);
        depths.resize(n);
    }
};

/// A token on its way through the layers: where it stands in which sequence, and as which node of
/// its tree. Null: in the context.
struct token_place {
    std::int32_t id = 0;
    std::size_t sequence = 0;
    std::size_t position = 0;
    const tree_nodes* tree = nullptr;
    std::size_t node = 0;

    /// Positions before those of the tree.
    [[nodiscard]] std::size_t context() const { return position - tree->depths[node]; }
};

/// Where the tokens of one sequence from `first` on end that follow each other: each sees the one
/// before it, and what that one sees.
[[nodiscard]] inline std::size_t end_of_chain(std::span<const token_place> tokens,
                                              std::size_t first) {
    const tree_nodes* const tree = tokens[first].tree;
    std::size_t end = first + 1;
    while (end < tokens.size() && tokens[end].sequence == tokens[first].sequence &&
           (tree == nullptr || tree->parents[tokens[end].node] == tokens[end - 1].node))
        ++end;
    return end;
}
[[nodiscard]] inline bool any_nodes(std::span<const token_place> tokens) {
    return std::ranges::any_of(tokens, [](const token_place& at) { return at.tree != nullptr; });
}

/// What drafters may be shown of a model's pass over a token.
enum class feature_kind : std::uint8_t {
    none,
    head_input,   ///< what the head is multiplied with: EAGLE, HASS, CORAL
    low_mid_high, ///< the residuals before three blocks (see low_mid_high), side by side: EAGLE-3
};

/// The blocks before which EAGLE-3 takes residuals.
[[nodiscard]] constexpr std::array<std::size_t, 3> low_mid_high(std::size_t layers) {
    return {layers > 2 ? std::size_t{2} : 0, layers / 2, layers > 3 ? layers - 3 : 0};
}

[[nodiscard]] constexpr std::size_t feature_width(feature_kind which, std::size_t dimension) {
    return which == feature_kind::none ? 0
                                       : (which == feature_kind::head_input ? 1 : 3) * dimension;
}

/// Features of a pass, for each of its tokens: rows of `stride` numbers.
struct pass_features {
    feature_kind which = feature_kind::none;
    float* data = nullptr;
    std::size_t stride = 0;
};

/// What a pass gives besides filling the caches, for each of its tokens: rows of `stride` numbers.
struct pass_output {
    enum class kind : std::uint8_t {
        nothing,
        hidden, ///< what the head would be multiplied with, [dimension]
        logits, ///< [vocabulary rounded up to 32]
    };
    kind what = kind::nothing;
    float* data = nullptr;
    std::size_t stride = 0;
    pass_features features{};
};

} // namespace specdec::engine
