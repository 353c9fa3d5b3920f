// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/sampling/lazy_flip.hpp>
#include <specdec/sampling/residual.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// Token-wise rejection sampling. It keeps x_i with probability min(1, p(x_i) / q(x_i)), draws from
/// norm(max(p - q, 0)) at the first rejection, and draws one more token from p if all are kept.
/// Lossless for any q, because a proposal carries the law that it was drawn from.
///
/// Paper: Leviathan et al. 2023, Chen et al. 2023; Timor et al. 2025, Alg. 5 (which Alg. 1 and 4
/// run). Symbols: x_i = proposals[i].token(), q = proposals[i].law(), p = law_at(i), gamma =
/// proposals.size(). Expected acceptance at a position: sum over t of min(p(t), q(t)). A proposal
/// outside the target's vocabulary has p = 0 and is rejected. Complexity: one law a position up to
/// the rejection; thinning draws the residual, with at most 1 draw a position expected, whatever p
/// and q are. Sites: the round's; accept and target are numbered by the place in the draft.
/// Allocates nothing. Errors: specdec::error for draws by thinning of 2^29 or more.
struct token_rejection {
    thinning_limits thinning{};

    template <class LawAt, class Law, Coin C>
    [[nodiscard]] verdict operator()(LawAt&& law_at, std::span<const proposal<Law>> proposals,
                                     C& coin, round_name round) const {
        validate(thinning, 1);
        const std::size_t gamma = proposals.size();
        for (std::size_t i = 0; i < gamma; ++i) {
            const auto p = law_at(i);
            const Law& q = proposals[i].law();
            const target_id x = proposals[i].token();
            const draw_site accept = round.site(purpose::accept, static_cast<std::uint32_t>(i));
            if (!x.valid() || !flip_ratio(coin, accept, p.probability(x), q, x))
                return reject(proposals, i, draw_residual(p, q, coin, round, thinning));
        }
        return accept_all(law_at, gamma, gamma, coin,
                          round.site(purpose::target, static_cast<std::uint32_t>(gamma)));
    }
};

} // namespace specdec
