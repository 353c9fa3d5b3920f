// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/verify/tree/tree_verifier.hpp>

namespace specdec {

/// Exact match on a tree: the target draws its own token at every position, and the path goes on
/// with the child that is that token. Lossless whatever is proposed; with a coin that goes by sites
/// the text of a seed is that of exact_match, with any draft and with none.
///
/// Expected acceptance at a position: sum over t of p(t) * P[t is among the children]. Sites: the
/// position of each token, whatever the round. Complexity: one law and one draw a position up to
/// the first mismatch. Allocates nothing.
struct tree_exact_match {
    [[nodiscard]] static constexpr std::size_t rows(std::size_t) { return 0; }

    template <class LawAt, class Law, Coin C>
    [[nodiscard]] verdict operator()(LawAt&& law_at, const token_tree<target_id>& tree,
                                     std::span<const proposal<Law>>, C& coin, round_name round,
                                     tree_workspace& work) const {
        work.path().clear();
        for (std::size_t node = tree_root;;) {
            const std::size_t depth = work.path().size();
            const draw_site site{round.position + depth, purpose::target};
            std::size_t child = first_child(law_at, tree, node);
            if (child == tree_root)
                return accept_all(law_at, node, depth, coin, site);
            const target_id t = coin.pick(site, law_at(node));
            while (child != tree_root && tree.id(child) != t)
                child = tree.next_sibling(child);
            if (child == tree_root)
                return {depth, depth + 1, t, token_origin::corrected};
            work.path().push_back(child);
            node = child;
        }
    }
};

} // namespace specdec
