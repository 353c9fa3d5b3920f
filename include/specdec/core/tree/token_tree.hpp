// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/model/tree_scoring.hpp>

namespace specdec {

/// Of a chain or a tree: the rows and laws of a whole draft are kept.
inline constexpr std::size_t most_draft_tokens = 1024;

/// A tree of tokens behind a context. Nodes are numbered from 0, parents before children and
/// siblings in the order in which they were added; tree_root is the context's last token. A chain
/// is a tree in which every node has one child.
///
/// Besides ids and parents it has what engines' kernels walk by: the first child of a node and the
/// next sibling, tree_root where there is none. Complexity: O(1) for everything but child().
/// Allocates in reserve() only.
template <class Id>
class token_tree {
public:
    token_tree() { clear(); }

    void reserve(std::size_t nodes) {
        for (auto* const of_nodes : {&parents_, &siblings_, &depths_, &ranks_})
            of_nodes->reserve(nodes);
        ids_.reserve(nodes);
        children_.reserve(nodes + 1);
        last_.reserve(nodes + 1);
    }
    void clear() {
        for (auto* const of_nodes : {&parents_, &siblings_, &depths_, &ranks_})
            of_nodes->clear();
        ids_.clear();
        children_.assign(1, tree_root);
        last_.assign(1, tree_root);
    }

    /// Adds the last child of a node, or of tree_root. Returns its number.
    std::size_t add(std::size_t parent, Id id) {
        SPECDEC_PRECONDITION(parent == tree_root || parent < size());
        const std::size_t node = size(), before = last_[place(parent)];
        (before == tree_root ? children_[place(parent)] : siblings_[before]) = node;
        last_[place(parent)] = node;
        depths_.push_back(depth(parent) + 1);
        ranks_.push_back(before == tree_root ? 0 : ranks_[before] + 1);
        parents_.push_back(parent);
        siblings_.push_back(tree_root);
        ids_.push_back(id);
        children_.push_back(tree_root);
        last_.push_back(tree_root);
        return node;
    }

    [[nodiscard]] std::size_t size() const { return ids_.size(); }
    [[nodiscard]] bool empty() const { return ids_.empty(); }
    [[nodiscard]] std::span<const Id> ids() const { return ids_; }
    [[nodiscard]] std::span<const std::size_t> parents() const { return parents_; }
    /// [size() + 1] the first child of tree_root, of node 0, of node 1, ...
    [[nodiscard]] std::span<const std::size_t> first_children() const { return children_; }
    /// [size()]
    [[nodiscard]] std::span<const std::size_t> next_siblings() const { return siblings_; }

    [[nodiscard]] Id id(std::size_t node) const { return ids_[node]; }
    [[nodiscard]] std::size_t parent(std::size_t node) const { return parents_[node]; }
    [[nodiscard]] std::size_t first_child(std::size_t node) const { return children_[place(node)]; }
    [[nodiscard]] std::size_t next_sibling(std::size_t node) const { return siblings_[node]; }
    /// The first child of a node that is this token, or tree_root.
    [[nodiscard]] std::size_t child(std::size_t node, Id id) const {
        std::size_t at = first_child(node);
        while (at != tree_root && ids_[at] != id)
            at = siblings_[at];
        return at;
    }
    /// How many siblings were added before it.
    [[nodiscard]] std::size_t rank(std::size_t node) const { return ranks_[node]; }
    /// Tokens from the context to the node, itself included; 0 for tree_root.
    [[nodiscard]] std::size_t depth(std::size_t node) const {
        return node == tree_root ? 0 : depths_[node];
    }

    /// Levels of the first n nodes, or of all. O(n).
    [[nodiscard]] std::size_t levels(std::size_t n) const {
        std::size_t deepest = 0;
        for (std::size_t i = 0; i < n && i < size(); ++i)
            deepest = depths_[i] > deepest ? depths_[i] : deepest;
        return deepest;
    }

    /// The tokens from the context to the node, itself included. Precondition: tokens has
    /// depth(node) places.
    void path_to(std::size_t node, std::span<Id> tokens) const {
        for (std::size_t i = depth(node); i > 0; node = parents_[node])
            tokens[--i] = ids_[node];
    }

private:
    static std::size_t place(std::size_t node) { return node + 1; } // tree_root's is 0

    std::vector<Id> ids_;
    std::vector<std::size_t> parents_, siblings_, depths_, ranks_;
    std::vector<std::size_t> children_, last_; // [nodes + 1] first and last child
};

} // namespace specdec
