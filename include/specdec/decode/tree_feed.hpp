// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/decode/target_feed.hpp>

namespace specdec {

/// Knows what the target's context holds of a session's committed text, and the tree that it has to
/// score: the last committed token is its node 0, node i of the draft its node i + 1. What was
/// committed of a tree the target keeps when the next round is prepared. Allocates in reserve()
/// only.
class tree_feed {
public:
    void reserve(std::size_t tokens, std::size_t nodes, std::size_t depth) {
        feed_.reserve(tokens);
        ids_.reserve(nodes + 1);
        parents_.reserve(nodes + 1);
        keep_.reserve(depth + 1);
    }
    /// Another text begins. The context may hold the same beginning already. What it has still to
    /// keep of the text before is given up.
    void start() {
        if (!keep_.empty())
            feed_.fed({held_, {}}, 0);
        feed_.start();
        keep_.clear();
        seen_ = {};
    }
    /// The context is gone, and with it a tree that was scored.
    void lost() {
        feed_.lost();
        keep_.clear();
        scored_ = false;
    }

    /// The round's tree: the draft's, if there is one, after `last`, the last committed token.
    void draft(target_id last, const token_tree<target_id>* tree) {
        ids_.assign(1, last);
        parents_.assign(1, tree_root);
        for (std::size_t i = 0; tree != nullptr && i < tree->size(); ++i) {
            ids_.push_back(tree->id(i));
            parents_.push_back(tree->parent(i) + 1); // the root's: node 0
        }
    }
    /// The nodes that are scored, the last committed token first.
    [[nodiscard]] std::span<const target_id> ids() const { return ids_; }

    [[nodiscard]] context_edit<target_id> edit(std::span<const target_id> committed) const {
        const context_edit<target_id> all = feed_.edit(committed, committed.size());
        return {all.truncate_to, all.append.first(all.append.size() - 1), ids_, parents_};
    }
    void fed(const context_edit<target_id>& edit, std::size_t committed) {
        feed_.fed({edit.truncate_to, edit.append}, committed);
        held_ = edit.truncate_to + edit.append.size();
        keep_.clear();
        scored_ = true;
    }

    /// Keeps what was committed of the last tree, and does the edit with a model, but for the tree.
    /// Returns what is left of it.
    template <TreeModelOf<target_id> Target>
    [[nodiscard]] context_edit<target_id> prepare(Target& target,
                                                  std::span<const target_id> committed) {
        if (!keep_.empty() && !as_fed(target, committed)) // somebody else has used it
            lost();
        target.keep_path(keep_); // none: nodes of a round that was given up are forgotten
        keep_.clear();
        (void)feed_.prepare(target, committed, committed.size());
        calls_ = calls_of(target);
        if constexpr (TellsHeld<Target, target_id>)
            seen_ = held_tokens<target_id>(target.held()).look();
        return edit(committed);
    }
    /// Scores the tree of an edit. Precondition: prepared.
    template <TreeModelOf<target_id> Target>
    [[nodiscard]] static logits_rows<target_id> score(Target& target,
                                                      const context_edit<target_id>& edit) {
        require_ids<target_id>(edit.nodes, target.vocabulary_size(), "session", "tokens");
        const logits_rows<target_id> rows = target.score_tree(edit.nodes, edit.parents);
        require_rows(rows, edit.nodes.size(), target.vocabulary_size(), "session");
        return rows;
    }

    /// The first n tokens of the round were committed, of which `path` are the draft's: the context
    /// is to gain the last committed token, then all but the n-th. Of a tree that is lost it gains
    /// nothing. committed: with these n.
    void commit(std::span<const std::size_t> path, std::span<const target_id> committed,
                std::size_t n) {
        keep_.clear();
        if (!scored_)
            return;
        for (std::size_t i = 0; i < n; ++i)
            keep_.push_back(i == 0 ? 0 : path[i - 1] + 1);
        const std::size_t held = committed.size() - n - 1;
        feed_.fed({held, committed.subspan(held, n)}, committed.size());
    }
    /// What of the last round's tree the target has still to keep.
    [[nodiscard]] std::span<const std::size_t> nodes_to_keep() const { return keep_; }

private:
    /// How many calls have changed the target's sequence; 0 where it does not count them.
    template <class Target>
    [[nodiscard]] static std::uint64_t calls_of(const Target& target) {
        if constexpr (requires { target.calls(); })
            return target.calls();
        else
            return 0;
    }
    /// Whether it holds what it held after the last pass, and the nodes of that, as far as it
    /// tells: where it counts calls, that pass is the only one since the text prepared it.
    template <class Target>
    [[nodiscard]] bool as_fed(const Target& target, std::span<const target_id> text) const {
        if (target.size() != held_)
            return false;
        if constexpr (requires { target.calls(); })
            if (target.calls() != calls_ + 1)
                return false;
        if constexpr (TellsHeld<Target, target_id>) {
            const held_tokens<target_id> held = target.held();
            const std::size_t same = held.unchanged_since(seen_); // it held the text's tokens
            return same + common_prefix<target_id>(held.subspan(same), text.subspan(same)) >= held_;
        }
        return true;
    }

    target_feed feed_;
    std::vector<target_id> ids_; // [nodes + 1]
    std::vector<std::size_t> parents_;
    std::vector<std::size_t> keep_;
    bool scored_ = false;     // the target holds the last tree
    std::size_t held_ = 0;    // what it holds after the last pass, without nodes
    std::uint64_t calls_ = 0; // on its sequence, before that pass
    context_look seen_{};     // of the target, when it was prepared last
};

} // namespace specdec
