// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/decode/target_feed.hpp>
#include <specdec/decode/tree/tree_round.hpp>

namespace specdec {

/// Knows what the target's context holds of a session's committed text, and the tree that it has to
/// score: the last committed token is its node 0, node i of the draft its node i + 1. Allocates in
/// reserve() only.
class tree_feed {
public:
    void reserve(std::size_t tokens, std::size_t nodes, std::size_t depth) {
        feed_.reserve(tokens);
        ids_.reserve(nodes + 1);
        parents_.reserve(nodes + 1);
        keep_.reserve(depth + 1);
    }
    /// Another text begins. The context may hold the same beginning already.
    void start() { feed_.start(); }
    /// The context is gone, and with it a tree that was scored.
    void lost() {
        feed_.lost();
        scored_ = false;
    }

    /// The round's tree: behind `last`, the last committed token, the draft's, if there is one.
    void draft(target_id last, const token_tree<target_id>* tree) {
        ids_.assign(1, last);
        parents_.assign(1, tree_root);
        for (std::size_t i = 0; tree != nullptr && i < tree->size(); ++i) {
            ids_.push_back(tree->id(i));
            parents_.push_back(tree->parent(i) + 1); // the root's: node 0
        }
    }
    /// Nodes that are scored, the last committed token included.
    [[nodiscard]] std::size_t size() const { return ids_.size(); }

    [[nodiscard]] tree_edit edit(std::span<const target_id> committed) const {
        const context_edit<target_id> all = feed_.edit(committed, committed.size());
        return {all.truncate_to, all.append.first(all.append.size() - 1), ids_, parents_};
    }
    void fed(const tree_edit& edit, std::size_t committed) {
        feed_.fed({edit.truncate_to, edit.append}, committed);
        scored_ = true;
    }

    /// Does the edit with a model, but for the tree.
    template <ContextOf<target_id> Target>
    void prepare(Target& target, std::span<const target_id> committed) {
        (void)feed_.prepare(target, committed, committed.size());
    }
    /// Scores the tree. Precondition: prepared.
    template <TreeModelOf<target_id> Target>
    [[nodiscard]] logits_rows<target_id> score(Target& target) {
        require_ids<target_id>(ids_, target.vocabulary_size(), "tree session", "tokens");
        target.keep_path({}); // an abandoned round's nodes would be counted on from
        const logits_rows<target_id> rows = target.score_tree(ids_, parents_);
        require_rows(rows, ids_.size(), target.vocabulary_size(), "tree session");
        scored_ = true;
        return rows;
    }

    /// The nodes whose tokens the context gains when the first n tokens of the round are committed,
    /// of which `path` are the draft's: the last committed token, then all but the n-th. None of a
    /// tree that is lost.
    [[nodiscard]] std::span<const std::size_t> to_keep(std::span<const std::size_t> path,
                                                       std::size_t n) {
        keep_.clear();
        for (std::size_t i = 0; scored_ && i < n; ++i)
            keep_.push_back(i == 0 ? 0 : path[i - 1] + 1);
        return keep_;
    }
    /// The target has kept them. committed: with the round's n tokens.
    void kept(std::span<const target_id> committed, std::size_t n) {
        if (!scored_)
            return;
        const std::size_t held = committed.size() - n - 1;
        feed_.fed({held, committed.subspan(held, n)}, committed.size());
    }

private:
    target_feed feed_;
    std::vector<target_id> ids_; // [nodes + 1]
    std::vector<std::size_t> parents_;
    std::vector<std::size_t> keep_;
    bool scored_ = false; // the target holds the last tree
};

} // namespace specdec
