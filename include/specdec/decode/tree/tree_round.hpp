// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/process/log_probabilities.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// What an engine has to do for a round that drafts a tree: truncate the target's context to
/// `truncate_to`, append tokens whose rows nobody needs, and score the tree, as score_tree does.
/// Its node 0 is the last committed token, node i + 1 is node i of the draft.
struct tree_edit {
    std::size_t truncate_to = 0;
    std::span<const target_id> append{};
    std::span<const target_id> ids{};
    std::span<const std::size_t> parents{};
};

/// What a round decided: tokens that may be committed, in this order. They are not part of the text
/// yet. Views into the session, which live until its next call.
struct tree_round_result {
    /// Those of the kept path and, unless the last of them is an end token, one of the target.
    std::span<const target_id> tokens;
    std::size_t accepted = 0;                    ///< tokens[0 .. accepted) are nodes
    token_origin last = token_origin::free;      ///< where the target's own token came from
    std::span<const std::size_t> path;           ///< [accepted] the kept nodes
    const token_tree<target_id>* tree = nullptr; ///< all nodes; none if nothing was proposed
    std::span<const draft_id> drafted; ///< [nodes of the drafter] their tokens in its vocabulary
    std::span<const tree_node> nodes;  ///< [nodes of the drafter] how sure it was
    no_draft reason = no_draft::none;  ///< why there is no tree
    round_log_probabilities log_probabilities{}; ///< of `tokens`, if the settings ask for them

    /// tokens[found .. accepted) are text that was seen before, behind nodes of the drafter.
    std::size_t found = ~std::size_t{0};

    kept_draft kept{}; ///< of the drafter's tree, whose nodes `drafted` and `nodes` tell of

    [[nodiscard]] token_origin origin(std::size_t i) const {
        return i >= accepted ? last : i >= found ? token_origin::looked_up : token_origin::accepted;
    }
};

/// What was kept of the drafter's tree: as the bridge says, or this path of the tree that was
/// scored.
template <class B, class Law>
[[nodiscard]] kept_draft kept_of(B& bridge, const draft_tree_view<Law>& draft,
                                 std::span<const std::size_t> path) {
    if constexpr (bridge_traits_of<B>.has_own_tree)
        return bridge.kept(path);
    else
        return {draft.tree, path};
}

/// The rows along a path of a tree: row 0 is the first one, row i + 1 that of path[i]. A view.
template <class Rows>
struct path_rows {
    Rows rows;
    std::span<const std::size_t> path;

    [[nodiscard]] std::size_t size() const { return path.size() + 1; }
    [[nodiscard]] std::size_t vocabulary() const { return rows.vocabulary(); }
    [[nodiscard]] auto operator[](std::size_t i) const {
        return rows[i == 0 ? 0 : path[i - 1] + 1];
    }
};

} // namespace specdec
