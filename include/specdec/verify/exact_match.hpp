// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/verify/verdict.hpp>

namespace specdec {

/// Exact match: the target draws its own token at every position, and a proposal is kept when it is
/// that token. Every emitted token is the target's own sample, so the rule is lossless whatever is
/// proposed. With a coin that goes by sites (philox_coin) the text of a seed is the same with any
/// draft and with none.
///
/// Paper: Timor et al. 2025, Alg. 2, lines 9 to 11 (the verifier of SLEM).
/// Symbols: x_i = proposals[i].token(), t_i ~ p_i, gamma = proposals.size().
/// Expected acceptance at a position: sum over t of p(t) * P[x_i = t].
/// Sites: the position of each token, whatever the round.
/// Complexity: one law and one draw a position up to the first mismatch. Allocates nothing.
struct exact_match {
    template <class LawAt, class Law, Coin C>
    [[nodiscard]] verdict operator()(LawAt&& law_at, std::span<const proposal<Law>> proposals,
                                     C& coin, round_name round) const {
        const std::size_t gamma = proposals.size();
        for (std::size_t i = 0; i < gamma; ++i) {
            const target_id t = coin.pick({round.position + i, purpose::target}, law_at(i));
            if (t != proposals[i].token())
                return reject(proposals, i, t);
        }
        return accept_all(law_at, gamma, gamma, coin, {round.position + gamma, purpose::target});
    }
};

} // namespace specdec
