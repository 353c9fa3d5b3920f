// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/logit_gradient.hpp>
#include <specdec/learn/loss/shared_softmax.hpp>

namespace specdec {

/// The least value of p(t) before its logarithm is taken. So a token that the target forbids, or
/// that a list leaves out, costs log(1 / value) instead of infinity. The default is about where
/// softmax_law gives 0, so it affects such tokens only. For a list that was cut from a row, the
/// missing mass / |T| is a better value.
struct probability_floor {
    double value = 1e-30;

    /// max(p, value). Errors: specdec::error for a value outside (0, 1).
    [[nodiscard]] double operator()(double p) const { return p > value ? p : value; }
};

inline void validate(probability_floor floor) {
    if (!(floor.value >= 1e-300 && floor.value < 1))
        fail("probability floor", "value", "expected a number from 1e-300 to below 1");
}

/// Reverse KL over the direct map, weighted: L_DM of OmniDraft, Eq. 3 and 4.
///
///     weight * sum over shared t of q'(t) log(q'(t) / p'(t))
///     p' = max(p, floor) / sum of max(p, floor) over shared t
///
/// Eq. 4 leaves open what the tokens without a partner are. Here both laws are conditioned on a
/// shared token: without that the loss is below 0 where q moves mass away from shared tokens, and
/// above 0 where nothing is left to learn. Where p has no mass on shared tokens: 0, with gradient
/// 0.
///
/// p, gradient, allocation and errors: as forward_kl_loss, and for a floor outside [1e-300, 1).
/// Complexity: O(|D| + |T|), with a search for each token in a list.
template <LawOf<target_id> P>
double reverse_kl_loss(const P& p, const shared_softmax& q, std::span<float> gradient,
                       double weight = 1, probability_floor floor = {}) {
    require_size<target_id>(p.size(), q.map().target_size(), "reverse KL loss", "map");
    validate(floor);
    logit_gradient dz(q.row(), gradient);
    double mass = 0, floored = 0, sum = 0;
    q.each(p, [&](target_id t, double p_t, double log_q) {
        mass += p_t;
        floored += floor(p_t);
        const double term = builtin::exp(log_q) * (log_q - builtin::log(floor(p_t)));
        sum += term;
        q.add(dz, t, term);
    });
    const bool known = mass > 0;
    dz.finish(known ? weight : 0);
    return known ? weight * (sum + builtin::log(floored)) : 0;
}

} // namespace specdec
