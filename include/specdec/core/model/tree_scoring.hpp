// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>

/// What an engine supplies, if it can, to score drafts that branch: many continuations of one
/// context in one pass.
namespace specdec {

/// The parent of a node that stands directly behind the context.
inline constexpr std::size_t tree_root = std::size_t(-1);

/// A model (ModelOf) that also scores a tree of tokens behind its context. A node is a token with a
/// parent: an earlier node, or the context's last token. Nodes are numbered from 0 in the order in
/// which they come; the next append, score, truncate or keep_path that does not throw forgets them.
///
///     m.score_tree(ids, parents)   adds ids.size() nodes, node i of the call with parent
///                                  parents[i]: the number of an earlier node, also of an earlier
///                                  call, or tree_root. Returns ids.size() rows as score does: row
///                                  i is the law behind node i of the call, given the context and
///                                  the nodes that lead to it. They live until the next call that
///                                  changes m
///     m.keep_path(nodes)           the context continues with the tokens of these nodes, the first
///                                  a child of tree_root, each other one of the node before it;
///                                  empty: with none. All nodes are forgotten
///
/// ids and parents are equally long, never empty. A tree may grow over several calls, level by
/// level. Tokens that the model has not seen yet (a target's last committed one) are a chain at the
/// beginning of the tree: tree_root, 0, 1, ... size() counts the context, not the nodes;
/// capacity() - size() is room for both. held(), begin_draft_round() and the rest count no nodes,
/// either.
///
/// Semantics: the row of a node is the one that score gives its path behind the context (bit for
/// bit, if a context's rows are so), whatever other nodes there are. Kept, a path is like one that
/// was scored. Failure: score_tree throws where nodes exceed the room or a parent is none;
/// keep_path where the nodes are no path. Context and nodes are then as they were.
/// testing/contract/tree_contract.hpp checks all this.
template <class M, class Id>
concept TreeModelOf =
    ModelOf<M, Id> && requires(M& m, std::span<const Id> ids, std::span<const std::size_t> nodes) {
        { m.score_tree(ids, nodes) } -> std::convertible_to<logits_rows<Id>>;
        m.keep_path(nodes);
    };

/// New nodes of one sequence of a model that holds several; without parents, new tokens.
template <class Id>
struct sequence_nodes {
    std::size_t sequence = 0;
    std::span<const Id> ids;
    std::span<const std::size_t> parents;
};

/// The same of a model of several sequences (BatchModelOf):
///
///     m.score_tree(parts)      one pass over all parts (sequence_nodes; no sequence twice), as
///                              score; a part with parents is what score_tree is given
///     m.keep_path(s, nodes)    as keep_path, for sequence s
template <class M, class Id>
concept BatchTreeModelOf =
    BatchModelOf<M, Id> && requires(M& m, std::size_t s, std::span<const sequence_nodes<Id>> parts,
                                    std::span<const std::size_t> nodes) {
        { m.score_tree(parts) } -> std::convertible_to<logits_rows<Id>>;
        m.keep_path(s, nodes);
    };

/// Whether a model, of one sequence or of several, scores trees: it has keep_path, and where it
/// declares scores_trees(), as a wrapper of any model does, that says so, too.
template <class M>
[[nodiscard]] constexpr bool scores_trees(const M& m) {
    using nodes = std::span<const std::size_t>;
    constexpr bool keeps = requires(M& x, std::size_t s, nodes path) { x.keep_path(s, path); } ||
                           requires(M& x, nodes path) { x.keep_path(path); };
    if constexpr (traits_of<model_traits, M>.scores_trees)
        return keeps && m.scores_trees();
    else
        return keeps;
}

/// Requires what score_tree is given: `ids` tokens with as many parents, behind `nodes` earlier
/// ones. Linear in the parents. Errors: specdec::error that names `source`.
inline void require_parents(std::size_t ids, std::span<const std::size_t> parents,
                            std::size_t nodes, const char* source) {
    if (parents.size() != ids)
        fail(source, "parents",
             "expected " + std::to_string(ids) + ", one for each token, found " +
                 std::to_string(parents.size()));
    for (std::size_t i = 0; i < parents.size(); ++i)
        if (parents[i] != tree_root && parents[i] >= nodes + i)
            fail(source, "parent of node " + std::to_string(nodes + i),
                 "expected an earlier node or tree_root, found " + std::to_string(parents[i]));
}

/// Requires what keep_path is given, of nodes that have these parents. Linear in the path. Errors:
/// specdec::error that names `source`.
inline void require_path(std::span<const std::size_t> path, std::span<const std::size_t> parents,
                         const char* source) {
    std::size_t last = tree_root;
    for (const std::size_t node : path) {
        if (node >= parents.size() || parents[node] != last)
            fail(source, "path",
                 "expected each node to be a child of the one before it, found node " +
                     std::to_string(node));
        last = node;
    }
}

} // namespace specdec
