// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/sampling/lazy_flip.hpp>
#include <specdec/sampling/remaining_law.hpp>
#include <specdec/sampling/residual.hpp>
#include <specdec/verify/tree/tree_verifier.hpp>

namespace specdec {

/// Recursive rejection sampling, from the root down. At a node it tries the children in the order
/// in which they were drawn:
///
///     P := p
///     for each child x ~ q: keep x with probability min(1, P(x) / q(x)), and go on behind it;
///                           else P := norm(max(P - q, 0))
///     no child kept: next token ~ P
///
/// Lossless for any laws of the siblings, because a proposal carries the law that it was drawn
/// from: for siblings without replacement the q of each one is without those before it. On a chain
/// it is token_rejection, draw for draw.
///
/// Papers: SpecInfer (Miao et al. 2024), RSD (Jeon et al. 2024), Sequoia (Chen et al. 2024).
/// Symbols: x = proposals[i].token(), q = proposals[i].law(), p = law_at(node). Complexity: a law a
/// level; a pass over the vocabulary for each rejected child but the last, which is thinned. Sites:
/// the round's; accept is numbered by the node, target by the depth. Allocates nothing.
/// Errors: token_rejection's.
struct recursive_rejection {
    thinning_limits thinning{};

    [[nodiscard]] static constexpr std::size_t rows(std::size_t) { return 1; }

    template <class LawAt, class Law, Coin C>
    [[nodiscard]] verdict operator()(LawAt&& law_at, const token_tree<target_id>& tree,
                                     std::span<const proposal<Law>> proposals, C& coin,
                                     round_name round, tree_workspace& work) const {
        validate(thinning, 1);
        work.path().clear();
        for (std::size_t node = tree_root;;) {
            const std::size_t depth = work.path().size();
            std::size_t child = first_child(law_at, tree, node);
            if (child == tree_root)
                return accept_all(law_at, node, depth, coin,
                                  round.site(purpose::target, static_cast<std::uint32_t>(depth)));
            const auto p = law_at(node);
            remaining_law left(p, work.row(0));
            while (!keeps(left, proposals[child], coin, round, child)) {
                const Law& q = proposals[child].law();
                const std::size_t next = tree.next_sibling(child);
                if (next == tree_root)
                    return {depth, depth + 1, draw_residual(left, q, coin, round, thinning),
                            token_origin::corrected};
                left.subtract(q);
                child = next;
            }
            work.path().push_back(child);
            node = child;
        }
    }

private:
    template <class P, class Law, class C>
    static bool keeps(const P& left, const proposal<Law>& x, C& coin, round_name round,
                      std::size_t node) {
        const draw_site site = round.site(purpose::accept, static_cast<std::uint32_t>(node));
        return flip_ratio(coin, site, left.probability(x.token()), x.law(), x.token());
    }
};

} // namespace specdec
