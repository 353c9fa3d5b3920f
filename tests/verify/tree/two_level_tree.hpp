// SPDX-License-Identifier: MIT
// A tree of two levels with the laws that its nodes are drawn from, for tests of rules alone.
#pragma once

#include <cstddef>
#include <vector>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/verify/tree/tree_verifier.hpp>

namespace specdec::testing {

/// Nodes 0 and 1 behind the root, nodes 2 and 3 behind node 0, node 4 behind node 1, each drawn
/// from one law; the target's law is the same everywhere.
struct two_level_tree {
    using law = dense_law<target_id>;
    std::vector<float> of_p, of_q;
    law p{probabilities_row<target_id>{of_p}}, q{probabilities_row<target_id>{of_q}};
    token_tree<target_id> tree;
    std::vector<proposal<law>> proposals;
    tree_workspace work;
    std::vector<std::size_t> asked; // laws, in order

    two_level_tree(std::vector<float> target, std::vector<float> draft, std::uint64_t seed = 1)
        : of_p(std::move(target)), of_q(std::move(draft)) {
        const philox_coin coin(seed);
        for (const std::size_t parent :
             {tree_root, tree_root, std::size_t{0}, std::size_t{0}, std::size_t{1}}) {
            const draw_site site{0, purpose::draft, static_cast<std::uint32_t>(tree.size())};
            proposals.push_back(proposal<law>::draw(q, coin, site));
            tree.add(parent, proposals.back().token());
        }
        work.reserve(2, 2, of_p.size());
    }

    template <class Rule, class C>
    verdict decide(const Rule& rule, C& coin) {
        asked.clear();
        const auto law_at = [&](std::size_t node) {
            asked.push_back(node);
            return p;
        };
        return rule(law_at, tree, std::span<const proposal<law>>(proposals), coin, 0, work);
    }
};

} // namespace specdec::testing
