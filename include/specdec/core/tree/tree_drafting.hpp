// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/tree/token_tree.hpp>

/// The concepts in which drafter, shape and bridge of a draft tree meet.
namespace specdec {

/// How siblings, the children of one node, are drawn from the draft distribution q after that node.
/// The distribution of each is part of its proposal.
enum class sibling_draw : std::uint8_t {
    independent,         ///< each from q: two siblings may be the same token
    without_replacement, ///< each from q without the siblings before it, renormalised; at
                         ///< temperature 0 the same as `likeliest`
    likeliest,           ///< the likeliest tokens of the logits: nothing is drawn
};

/// What a shape knows of a node.
struct tree_node {
    double last = 1; ///< the probability that its law gave its token
    double sure = 1; ///< draft_progress::sure of its token, for shapes that read rows; else `last`
    double reached = 1; ///< the product of `sure` from the root to it
};

/// What a round has beside its draft tree: text that was looked up.
struct beside_tree {
    std::size_t positions = 0; ///< of the target's pass
    double kept = 0;           ///< the chance that some of it is kept
};

/// A draft tree on its way.
struct growing_tree {
    const token_tree<target_id>& tree;
    std::span<const tree_node> nodes; ///< [tree.size()]
    std::size_t level = 0; ///< nodes from this one on are of the last level. No nodes: the root is
    beside_tree beside{};  ///< the same for all of a round
};

/// Says how many children nodes have. Asked once a level, before its children are drawn:
///
///     shape.grow(growing, children)   sets children[i], of the i-th node of the level (the root,
///                                     or node growing.level + i). It may depend on all that was
///                                     drawn before, on rounds that were committed, and on nothing
///                                     random besides
///     shape.reads()                   optional (rule_traits): row_reading::sureness if it reads
///                                     `sure`
///     shape.version()                    another number whenever the answers may be others
///
/// A node once drawn stays in the tree: to drop it by what was drawn would bias the law. So every
/// shape is exact with every sibling_draw. A bridge may draw fewer children: for lack of room, or
/// because q has no more tokens.
template <class S>
concept TreeShape =
    requires(const S& shape, const growing_tree& growing, std::span<std::size_t> children) {
        shape.grow(growing, children);
        { shape.version() } -> std::convertible_to<law_version>;
    };

/// A shape that drafts more than it keeps (EAGLE-2's second step):
///
///     shape.choose(growing, most, kept)   sets kept[i] to 1 for at most `most` nodes, each with
///                                         its ancestors, to 0 for the others; when the tree
///                                         is drawn
///     shape.chooses()                     false: this one keeps all (a shape that is chosen at
///                                         run time)
///
/// It may only follow siblings that are `likeliest`: then the nodes are a function of the context,
/// and nothing that was drawn is dropped. Any other draw is refused.
template <class S>
concept ChoosingShape = TreeShape<S> && requires(const S& shape, const growing_tree& growing,
                                                 std::size_t most, std::span<std::uint8_t> kept) {
    shape.choose(growing, most, kept);
    { shape.chooses() } -> std::same_as<bool>;
};

/// Whether a shape chooses among the nodes that it drafts.
template <TreeShape S>
[[nodiscard]] constexpr bool chooses_nodes([[maybe_unused]] const S& shape) {
    if constexpr (ChoosingShape<S>)
        return shape.chooses();
    else
        return false;
}

/// A drafter that gives the rows of a whole level in one pass:
///
///     d.grow(ids, parents)   behind row(): adds nodes behind the context, numbered on from those
///                            of earlier calls; their rows. As TreeModelOf's score_tree. The next
///                            sync forgets them
///     d.keep(nodes, ids)     the context continues with these nodes, whose tokens are ids; the
///                            others are forgotten. As keep_path
///     d.room_for_nodes()     optional (model_traits), where it may be less than the bridge can
///                            tell by capacity(): how many nodes fit behind the context. A tree
///                            that would have more ends a level before
///
/// Any other drafter drafts trees, too: it is synced with each node's path.
template <class D>
concept TreeDrafter = Drafter<D> && requires(D& d, std::span<const draft_id> ids,
                                             std::span<const std::size_t> nodes) {
    { d.grow(ids, nodes) } -> std::convertible_to<logits_rows<draft_id>>;
    d.keep(nodes, ids);
};

} // namespace specdec
