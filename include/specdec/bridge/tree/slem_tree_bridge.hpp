// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/strings/drafted_text.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/core/tree/tree_drafting.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// String-level exact match on trees (ours; slem_bridge has the paper's chain): the drafter drafts
/// a tree of its own tokens, the text of every path of it is encoded again in the target's
/// vocabulary, and what the paths have in common is scored once.
///
///     tree of d      := drafted as by any tree_bridge, a control token of the drafter has no
///                       children
///     for each leaf, the surest first:
///         t_1 .. t_m := T(text from the root to the leaf), as slem_bridge encodes a draft
///         v := root; for i = 1 .. m:  v := the child of v that is t_i, else a new one, for
///                                     certain, as long as there are at most max_nodes
///
/// A path is encoded whole, as more text may change its last tokens. No two siblings are the same
/// token. Lossless with every rule of trees, as given the draft's text everything is certain; made
/// for tree_exact_match and coupled_tree_match. Without branches it is slem_bridge, draw for draw.
///
/// Nodes are the target's; what the view has of the drafter (draft_tokens, nodes) and what kept()
/// gives is the drafter's tree. Models what a session of trees takes of a bridge. The settings are
/// those of the drafter's tree; a path of T may be longer than max_depth. Borrows tokenizers and
/// map. Memory, allocation: a tree_bridge's, drafted_text's, 4 bytes for each draft token.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class slem_tree_bridge {
public:
    using law_type = one_hot_law<target_id>;
    static constexpr bridge_traits traits{.drafts_trees = true, .has_own_tree = true};

    /// Errors: specdec::error for settings out of range and for a map of other vocabularies.
    slem_tree_bridge(const TargetTokenizer& target, const DraftTokenizer& draft, const id_map& map,
                     std::size_t capacity, const tree_settings& settings)
        : target_(target), draft_(draft), map_(map),
          drafts_(identity_map(map.draft_size(), map.draft_size()),
                  own_context(target, draft, map, capacity), settings),
          text_(target, draft, map, capacity, settings.max_depth), settings_(settings) {
        settings_.max_depth = settings.max_nodes;
        for (std::size_t d = 0; d < map.draft_size(); ++d) {
            const std::string_view bytes = draft.bytes(id_at<draft_id>(d));
            widths_.push_back(text_width(bytes));
            if (bytes.empty())
                silent_.push_back(id_at<target_id>(d));
        }
        for (std::vector<std::size_t>* const nodes : {&leaves_, &path_, &ends_})
            nodes->reserve(settings.drafted());
        kept_text_.reserve(text_.most_bytes());
        tree_.reserve(settings.max_nodes);
        proposals_.reserve(settings.max_nodes);
    }

    void start(std::span<const draft_id> prefix) {
        drafts_.start(prefix);
        text_.start();
        drafted_ = {};
    }
    void follow(std::span<const target_id> committed) {
        drafts_.follow(committed);
        text_.follow(committed);
    }
    [[nodiscard]] const auto& context() const { return drafts_.context(); }
    [[nodiscard]] std::size_t target_size() const { return map_.target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return map_.draft_size(); }
    /// Of the target's tree.
    [[nodiscard]] const tree_settings& settings() const { return settings_; }

    /// One draft. Views, which live until the next call. Errors: as tree_bridge.
    template <DraftContextHolder D, TreeShape Shape, Coin C>
        requires Drafter<D>
    [[nodiscard]] draft_tree_view<law_type> propose(D& drafter, const Shape& shape, C& coin,
                                                    const tree_request& request) {
        tree_.clear();
        proposals_.clear();
        if (!request.path.again)
            drafted_ = {};
        if (request.path.max_proposals == 0 || request.max_nodes == 0)
            return {.reason = no_draft::no_room};
        tree_request own{request.path, drafts_.settings().max_nodes, request.beside};
        own.path.max_proposals = drafts_.settings().max_depth;
        own.path.end_ids = silent_;
        own.path.place = request.path.place.moved_by(widths_);
        request_ = request;
        if (drafted_.tree == nullptr) // else what threw was the encoding of a whole tree
            drafted_ = drafts_.propose(drafter, shape, coin, own);
        return drafted_.tree != nullptr ? merged()
                                        : draft_tree_view<law_type>::nothing(drafted_.reason);
    }
    /// As tree_bridge's. False also where the drafter's tree is whole and a tokenizer threw.
    [[nodiscard]] bool end_draft(no_draft why, draft_tree_view<law_type>& draft) {
        if (drafted_.tree != nullptr || !drafts_.end_draft(why, drafted_))
            return false;
        draft = drafted_.tree != nullptr ? merged() : draft_tree_view<law_type>::nothing(why);
        return true;
    }

    /// What of the drafter's tree the text of these nodes has, which are a path from the root: the
    /// longest path of whole tokens. A view, until the next call.
    [[nodiscard]] kept_draft kept(std::span<const std::size_t> path) {
        path_.clear();
        if (drafted_.tree == nullptr)
            return {};
        kept_text_.clear();
        for (const std::size_t node : path)
            kept_text_.append(target_.bytes(tree_.id(node)));
        const target_id last = path.empty() ? target_id{} : tree_.id(path.back());
        const token_tree<target_id>& tree = *drafted_.tree;
        ends_.assign(tree.size(), nowhere);
        std::size_t best = tree_root, most = 0;
        for (std::size_t node = 0; node < tree.size(); ++node) {
            const std::size_t parent = tree.parent(node);
            const std::size_t begin = parent == tree_root ? 0 : ends_[parent];
            const draft_id d = drafted_.draft_tokens[node];
            const std::string_view bytes = draft_.bytes(d);
            if (begin == nowhere)
                continue;
            const std::string_view rest = std::string_view(kept_text_).substr(begin);
            if (bytes.empty() ? !rest.empty() || !last.valid() || map_.to_target(d) != last
                              : !rest.starts_with(bytes))
                continue;
            ends_[node] = begin + bytes.size();
            if (ends_[node] > most || bytes.empty()) {
                most = ends_[node];
                best = node;
            }
        }
        path_to(best);
        return {&tree, path_};
    }

    /// These nodes, a path from the root, were committed: a TreeDrafter keeps what it was fed of
    /// their text. Precondition: nobody else used the drafter since the draft.
    template <DraftContextHolder D>
    void keep(D& drafter, std::span<const std::size_t> path) {
        if (drafted_.tree != nullptr)
            drafts_.keep(drafter, kept(path).path);
    }

private:
    /// The drafter's tree has draft ids for target ids, so its context is of one vocabulary, too.
    struct own_context : retokenised_context<TargetTokenizer, DraftTokenizer> {
        using retokenised_context<TargetTokenizer, DraftTokenizer>::retokenised_context;
        std::size_t target_size() const = delete;
    };
    static constexpr std::size_t nowhere = ~std::size_t{0};

    /// The target's tree: the texts of all paths of the drafter's, the surest first.
    [[nodiscard]] draft_tree_view<law_type> merged() {
        sort_leaves();
        for (const std::size_t leaf : leaves_)
            merge(text_to(leaf, request_.path), request_.max_nodes);
        return {.tree = tree_.empty() ? nullptr : &tree_,
                .proposals = proposals_,
                .draft_tokens = drafted_.draft_tokens,
                .nodes = drafted_.nodes,
                .reason = tree_.empty() ? no_draft::nothing_to_say : no_draft::none,
                .passes = drafted_.passes};
    }
    /// Of the drafter's tree; among equally sure ones in the order in which they were drawn.
    void sort_leaves() {
        leaves_.clear();
        for (std::size_t node = 0; node < drafted_.tree->size(); ++node) {
            if (drafted_.tree->first_child(node) != tree_root)
                continue;
            leaves_.push_back(node);
            for (std::size_t i = leaves_.size() - 1; i > 0 && surer(node, leaves_[i - 1]); --i) {
                leaves_[i] = leaves_[i - 1];
                leaves_[i - 1] = node;
            }
        }
    }
    [[nodiscard]] bool surer(std::size_t node, std::size_t other) const {
        return drafted_.nodes[node].reached > drafted_.nodes[other].reached;
    }
    void path_to(std::size_t node) {
        path_.assign(drafted_.tree->depth(node), node);
        for (std::size_t i = path_.size(); i > 0; node = drafted_.tree->parent(node))
            path_[--i] = node;
    }
    [[nodiscard]] std::span<const target_id> text_to(std::size_t leaf,
                                                     const draft_request& request) {
        path_to(leaf);
        text_.clear();
        for (const std::size_t node : path_)
            (void)text_.push(drafted_.draft_tokens[node]);
        return text_.tokens(request.max_proposals, request.end_ids);
    }
    void merge(std::span<const target_id> tokens, std::size_t room) {
        std::size_t node = tree_root;
        for (const target_id t : tokens) {
            const std::size_t child = tree_.child(node, t);
            if (child == tree_root && (tree_.size() == room || tree_.size() == settings_.max_nodes))
                return;
            node = child != tree_root ? child : tree_.add(node, t);
            if (child == tree_root)
                proposals_.push_back(certain(t));
        }
    }

    const TargetTokenizer& target_;
    const DraftTokenizer& draft_;
    const id_map& map_;
    tree_bridge<own_context, identity_map> drafts_;
    drafted_text<TargetTokenizer, DraftTokenizer> text_;
    tree_settings settings_;
    std::vector<std::uint32_t> widths_; // [|D|]
    std::vector<target_id> silent_;     // tokens without text, as the drafter's tree has them
    draft_tree_view<sibling_law<softmax_law<draft_id>, identity_map>> drafted_;
    tree_request request_;                   // of this round
    std::vector<std::size_t> leaves_, path_; // of the drafter's tree
    std::vector<std::size_t> ends_;          // [its nodes] in kept_text_, or nowhere
    std::string kept_text_;
    token_tree<target_id> tree_;
    std::vector<proposal<law_type>> proposals_; // [nodes]
};

} // namespace specdec
