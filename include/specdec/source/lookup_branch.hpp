// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/core/tree/tree_drafting.hpp>
#include <specdec/draft/lookup/lookup_hit_tokens.hpp>
#include <specdec/draft/lookup/lookup_length.hpp>
#include <specdec/source/lookup_beside.hpp>

namespace specdec {

/// Lookup and a drafter in one round: what was found is a branch of the tree.
///
///     found  := what the text's end was followed by (lookup_hit_tokens)
///     n      := length.choose(found)
///     tree   := that of the bridge, whose shape knows of n and of the chance of found_1
///     v := root; for i = 1 .. n:  v := the child of v that is found_i, if the drafter has it,
///                                 else a new last child, for certain
///
/// A new child comes behind its siblings, and whether it does depends on nothing but them and on
/// the path to it, which a verifier knows when it comes to it; n is chosen before anything is
/// drawn: lossless with every rule of trees with which the bridge is. The drafter's shape is told
/// of its own nodes only.
///
/// Models what a session of trees takes of a bridge. Without a lookup it is the bridge. Borrows the
/// tokenizer. Allocates as B and lookup_hit_tokens.
template <class B, TextLookup Lookup, TokenizerOf<target_id> Tokenizer, UnitNumber U = double>
class lookup_branch : public lookup_beside<B, Lookup, Tokenizer, lookup_length, U> {
    using base = lookup_beside<B, Lookup, Tokenizer, lookup_length, U>;
    using base::bridge_;
    using base::lookup_;

public:
    using typename base::law_type;
    using typename base::lookup_type;

    lookup_branch(B bridge, std::optional<lookup_type> lookup)
        : base(std::move(bridge), std::move(lookup)), settings_(bridge_.settings()) {
        const std::size_t found = base::most_found();
        settings_.max_nodes += found;
        if (settings_.max_drafted > 0)
            settings_.max_drafted += found;
        settings_.max_depth = std::max(settings_.max_depth, found);
        tree_.reserve(settings_.max_nodes);
        proposals_.reserve(settings_.max_nodes);
    }

    void start(std::span<const draft_id> prefix) {
        base::start(prefix);
        forget();
    }
    void follow(std::span<const target_id> committed) {
        base::follow(committed, [&](lookup_length& length, const auto& found) {
            length.learn(found.outcome(committed));
            length.spend(static_cast<double>(committed.size()),
                         length.spent(tree_.size()) +
                             length.costs().draft * static_cast<double>(levels_));
        });
        forget();
    }

    /// With the branch.
    [[nodiscard]] const tree_settings& settings() const { return settings_; }

    template <DraftContextHolder D, TreeShape Shape, Coin C>
    [[nodiscard]] draft_tree_view<law_type> propose(D& drafter, const Shape& shape, C& coin,
                                                    const tree_request& request) {
        forget();
        own_.path.again = request.path.again && began_; // else what was chosen holds
        if (!own_.path.again) {
            std::size_t n = 0;
            if (base::find(request.path))
                n = std::min({lookup_->policy.choose(lookup_->found.steps()), request.max_nodes,
                              request.path.max_proposals});
            own_ = request;
            own_.path.again = false;
            own_.max_nodes = request.max_nodes - n;
            own_.beside = {n, n > 0 ? lookup_->policy.accept(lookup_->found.steps()[0]) : 0};
            own_.path.max_proposals =
                std::min(request.path.max_proposals, bridge_.settings().max_depth);
        }
        began_ = true;
        const auto draft = bridge_.propose(drafter, shape, coin, own_);
        began_ = false;
        return with_branch(draft);
    }
    /// As the bridge's, with the branch.
    [[nodiscard]] bool end_draft(no_draft why, draft_tree_view<law_type>& draft) {
        draft_tree_view<typename B::law_type> own;
        if (!began_ || !bridge_.end_draft(why, own))
            return false;
        began_ = false;
        draft = with_branch(own);
        return true;
    }

    /// As the bridge's, of its own nodes of the path.
    template <DraftContextHolder D>
    void keep(D& drafter, std::span<const std::size_t> path) {
        bridge_.keep(drafter, own_of(path));
    }
    /// As the bridge's, if it has a tree of its own.
    [[nodiscard]] kept_draft kept(std::span<const std::size_t> path)
        requires(bridge_traits_of<B>.has_own_tree)
    {
        return bridge_.kept(own_of(path));
    }

private:
    [[nodiscard]] std::span<const std::size_t> own_of(std::span<const std::size_t> path) const {
        return path.first(draft_tree_view<law_type>{.drafted = drafted_}.drafted_of(path));
    }
    void forget() {
        tree_.clear();
        proposals_.clear();
        drafted_ = levels_ = 0;
    }
    [[nodiscard]] draft_tree_view<law_type>
    with_branch(const draft_tree_view<typename B::law_type>& draft) {
        if (draft.tree != nullptr)
            for (drafted_ = 0; drafted_ < draft.tree->size(); ++drafted_)
                add(draft.tree->parent(drafted_), base::drawn(draft.proposals[drafted_]));
        for (std::size_t i = 0; i < drafted_; ++i)
            levels_ = std::max(levels_, tree_.depth(i));
        branch(own_.beside.positions, own_.path);
        if (tree_.empty())
            return draft_tree_view<law_type>::nothing(draft.reason);
        return {&tree_,         proposals_, draft.draft_tokens, draft.nodes,
                no_draft::none, drafted_,   draft.passes};
    }
    std::size_t add(std::size_t parent, const proposal<law_type>& x) {
        proposals_.push_back(x);
        return tree_.add(parent, x.token());
    }
    void branch(std::size_t n, const draft_request& request) {
        std::size_t node = tree_root;
        for (const target_id t : base::found_ids().first(n)) {
            const std::size_t child = tree_.child(node, t);
            node = child != tree_root ? child : add(node, base::found(t));
            if (is_end(request.end_ids, t))
                return;
        }
    }

    tree_settings settings_;
    tree_request own_;   // that the bridge is asked
    bool began_ = false; // and has not answered
    token_tree<target_id> tree_;
    std::vector<proposal<law_type>> proposals_; // [nodes]
    std::size_t drafted_ = 0;                   // nodes of the bridge
    std::size_t levels_ = 0;                    // of them
};

} // namespace specdec
