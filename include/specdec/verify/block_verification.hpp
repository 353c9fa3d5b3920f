// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/sampling/residual.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// Block verification keeps the longest prefix of the draft that passes a test, so a likely token
/// can make up for an unlikely one before it. Lossless for any q. On average it keeps at least as
/// many proposals as token-wise rejection: the same number for one proposal and for one-hot q.
///
///     P_0 = 1,  P_{i+1} = min(1, P_i * p_i(x_i) / q_i(x_i))
///     S_i = sum over t of max(P_i * p_i(t) - q_i(t), 0)
///     h_i = S_i / (S_i + 1 - P_i), 0 / 0 := 1;  h_gamma = P_gamma
///     tau = the largest i whose test, of probability h_i, succeeds   (h_0 = 1)
///     next token ~ norm(max(P_tau * p_tau - q_tau, 0)), or p_gamma if tau = gamma
///
/// Paper: Sun et al., ICLR 2025 (arXiv 2403.10444); places are counted from 0 here.
/// Symbols: x_i = proposals[i].token(), q_i = proposals[i].law(), p_i = law_at(i), gamma =
/// proposals.size(). A proposal outside the target's vocabulary has p = 0.
///
/// The tests run from gamma down, so the first that succeeds ends them. They need no S_i (ours):
/// repeat { with probability 1 - P_i the test fails; draw t ~ p_i; with probability max(1 - q_i(t)
/// / (P_i * p_i(t)), 0) it succeeds and t is the next token }. One pass of the loop succeeds with
/// probability S_i and fails with 1 - P_i, which gives h_i and the residual. On average this takes
/// one draw a place, whatever p and q are, since a test is reached with probability S_i + 1 - P_i.
/// After thinning.draws passes the sums decide.
///
/// P_i in double underflows where the true value is below 1e-307. The sum over t of q_i(t) *
/// P_{i+1} is at most P_i, so the law is off by no more than that. Complexity: gamma laws (fewer if
/// a proposal has p = 0), all alive at once: about 1.3 KB of stack a proposal. With one proposal
/// every draw is token_rejection's. Sites: the round's; attempts of accept and residual are
/// numbered through all places; target has attempt gamma. Allocates nothing. Errors:
/// specdec::error where thinning.draws times gamma, or thinning.lazy_draws, is 2^29 or more, as the
/// sites are numbered.
struct block_verification {
    thinning_limits thinning{};

    template <class LawAt, class Law, Coin C>
    [[nodiscard]] verdict operator()(LawAt&& law_at, std::span<const proposal<Law>> proposals,
                                     C& coin, round_name round) const {
        validate(thinning, proposals.size());
        return longest(law_at, proposals, coin, round, 0, 1.0);
    }

    /// Makes the test of probability h_i, i > 0. Returns the token behind the prefix if it
    /// succeeds, else an invalid one. For rules that go on from it (traversal_verification).
    template <class L, class Q, class C>
    target_id test(const L& p, const Q& q, double weight, C& coin, round_name round,
                   std::size_t i) const {
        for (std::uint32_t attempt = 0; attempt < thinning.draws; ++attempt) {
            if (coin.flip(test_site(round, i, attempt), 1 - weight))
                return {};
            const auto t = coin.pick(residual_site(round, i, 2 * attempt), p);
            const double target = weight * p.probability(t), draft = q.probability(t);
            const double keep = draft < target ? 1 - draft / target : 0.0;
            if (coin.flip(residual_site(round, i, 2 * attempt + 1), keep))
                return t;
        }
        const residual_law<L, Q> exact(p, q, weight);
        const double either = exact.mass() + (1 - weight);
        if (!coin.flip(test_site(round, i, thinning.draws),
                       either > 0 ? exact.mass() / either : 1.0))
            return {};
        return coin.pick(residual_site(round, i, 2 * thinning.draws), exact);
    }
    /// The site of a test behind i > 0 proposals.
    [[nodiscard]] draw_site test_site(round_name round, std::size_t i,
                                      std::uint32_t attempt) const {
        const auto before = static_cast<std::uint32_t>(i - 1) * (thinning.draws + 1);
        return round.site(purpose::accept, before + attempt);
    }

private:
    /// Finds the longest prefix of at least i proposals that passes its test. The verdict is not
    /// decided if none does. Precondition: weight = P_i > 0.
    template <class LawAt, class Law, class C>
    verdict longest(LawAt& law_at, std::span<const proposal<Law>> proposals, C& coin,
                    round_name round, std::size_t i, double weight) const {
        const std::size_t gamma = proposals.size();
        if (i == gamma) {
            if (gamma > 0 && !coin.flip(test_site(round, gamma, 0), weight))
                return {};
            const draw_site free = round.site(purpose::target, static_cast<std::uint32_t>(gamma));
            return builtin::apart([&] { return accept_all(law_at, gamma, gamma, coin, free); });
        }
        const auto p = builtin::apart([&] { return law_at(i); });
        const Law& q = proposals[i].law();
        const target_id x = proposals[i].token();
        const double ratio = builtin::apart(
            [&] { return x.valid() ? weight * (p.probability(x) / q.probability(x)) : 0.0; });
        if (ratio > 0) {
            const double capped = ratio < 1 ? ratio : 1.0;
            const verdict longer = longest(law_at, proposals, coin, round, i + 1, capped);
            if (longer.decided())
                return longer;
        }
        const target_id t = builtin::apart([&] {
            return i == 0 ? draw_residual(p, q, coin, round, thinning)
                          : test(p, q, weight, coin, round, i);
        });
        return reject(proposals, i, t);
    }

    /// The first attempt number of residual sites behind the first place, whose draw_residual()
    /// uses numbers below it.
    static constexpr std::uint32_t behind_first = 1U << 31;

    [[nodiscard]] draw_site residual_site(round_name round, std::size_t i,
                                          std::uint32_t attempt) const {
        const auto before = static_cast<std::uint32_t>(i) * (2 * thinning.draws + 1);
        return round.site(purpose::residual, behind_first + before + attempt);
    }
};

} // namespace specdec
