// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/sampling/remaining_law.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/tree/tree_verifier.hpp>

namespace specdec {

/// Traversal verification goes from the leaves to the root, so a likely token can make up for an
/// unlikely one before it: block verification for trees. a is the probability with which the path
/// to a node is to be kept, P the law of the token behind it:
///
///     visit(v, a):   P := p,  for the root a = 1
///         for each child x ~ q of v, in the order in which they were drawn:
///             visit(x, min(1, a * P(x) / q(x))); done if it keeps a path
///             S := sum over t of max(a * P(t) - q(t), 0)
///             a := S / (S + 1 - a)  (0 / 0 := 1),  P := norm(max(a * P - q, 0))  with the old a
///         with probability a: keep the path to v, next token ~ P
///
/// Lossless for any laws of the siblings, each carried by its proposal. It keeps on average at
/// least as many proposals as recursive_rejection. On a chain it is block_verification, draw for
/// draw.
///
/// Paper: Traversal Verification (arXiv 2505.12398). Symbols: x = proposals[i].token(), q =
/// proposals[i].law(), p = law_at(node). Complexity: a law a node that is visited, as many alive
/// as the path is long (about 1.6 KB of stack each); a pass over the vocabulary for each rejected
/// child but the last of its siblings, which is thinned. Sites: block_verification's, by node + 1
/// in place of i. Allocates nothing. Errors: block_verification's, by the number of nodes.
struct traversal_verification {
    thinning_limits thinning{};

    [[nodiscard]] static constexpr std::size_t rows(std::size_t depth) { return depth; }

    template <class LawAt, class Law, Coin C>
    [[nodiscard]] verdict operator()(LawAt&& law_at, const token_tree<target_id>& tree,
                                     std::span<const proposal<Law>> proposals, C& coin,
                                     round_name round, tree_workspace& work) const {
        validate(thinning, tree.size() + 1);
        work.path().clear();
        return visit(law_at, tree, proposals, coin, round, work, tree_root, 1.0);
    }

private:
    /// work.path() leads to the node. A verdict that is not decided: the path is not kept, and ends
    /// as it was. Precondition: weight > 0.
    template <class LawAt, class Law, class C>
    verdict visit(LawAt& law_at, const token_tree<target_id>& tree,
                  std::span<const proposal<Law>> proposals, C& coin, round_name round,
                  tree_workspace& work, std::size_t node, double weight) const {
        const block_verification block{thinning};
        const std::size_t place = node + 1; // 0 for the root
        const std::size_t depth = work.path().size();
        std::size_t child = first_child(law_at, tree, node);
        if (child == tree_root) {
            if (node != tree_root && !coin.flip(block.test_site(round, place, 0), weight))
                return {};
            const draw_site free = round.site(purpose::target, static_cast<std::uint32_t>(place));
            return builtin::apart([&] { return accept_all(law_at, node, depth, coin, free); });
        }
        const auto p = builtin::apart([&] { return law_at(node); });
        remaining_law left(p, work.row(depth));
        for (;;) {
            const Law& q = proposals[child].law();
            const target_id x = proposals[child].token();
            const double ratio =
                builtin::apart([&] { return weight * (left.probability(x) / q.probability(x)); });
            if (ratio > 0) {
                work.path().push_back(child);
                const verdict longer = visit(law_at, tree, proposals, coin, round, work, child,
                                             ratio < 1 ? ratio : 1.0);
                if (longer.decided())
                    return longer;
                work.path().pop_back();
            }
            const std::size_t next = tree.next_sibling(child);
            if (next == tree_root) {
                const target_id t = builtin::apart([&] {
                    return node == tree_root ? draw_residual(left, q, coin, round, thinning)
                                             : block.test(left, q, weight, coin, round, place);
                });
                return {depth, depth + 1, t, token_origin::corrected};
            }
            const double mass = builtin::apart([&] { return left.subtract(q, weight); });
            weight = weight < 1 ? mass / (mass + (1 - weight)) : 1.0;
            if (!(weight > 0))
                return {};
            child = next;
        }
    }
};

} // namespace specdec
