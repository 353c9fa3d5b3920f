// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/logit_gradient.hpp>
#include <specdec/learn/loss/shared_softmax.hpp>

namespace specdec {

/// Forward KL over the direct map, weighted:
///
///     weight * sum over shared t of p'(t) log(p'(t) / q'(t)),    p' = p / sum of p over shared t
///
/// Both laws are conditioned on a shared token: else the divergence is infinite wherever the target
/// knows a token that the drafter lacks. Where p has no mass on shared tokens there is nothing to
/// learn: 0, with gradient 0. For one-hot p it is the NLL of the target's token.
///
/// p: any law over T (softmax_law of logits, dense_law of probabilities, sparse_law of a list).
/// Writes the gradient with respect to the draft logits, weight (q' - p') / T where ids are unique,
/// to `gradient` [|D|]. Complexity: O(|D| + |T|), or O(|D| + n) for a list of n entries. Allocates
/// nothing. Errors: specdec::error for a law or a gradient of another size, and as logit_gradient.
template <LawOf<target_id> P>
double forward_kl_loss(const P& p, const shared_softmax& q, std::span<float> gradient,
                       double weight = 1) {
    require_size<target_id>(p.size(), q.map().target_size(), "forward KL loss", "map");
    logit_gradient dz(q.row(), gradient);
    double mass = 0, sum = 0;
    q.each_with_mass(p, [&](target_id t, double p_t, double log_q) {
        mass += p_t;
        sum += p_t * (builtin::log(p_t) - log_q);
        q.add(dz, t, -p_t);
    });
    if (!(mass > 0))
        return 0;
    dz.finish(weight / mass);
    return weight * (sum / mass - builtin::log(mass));
}

} // namespace specdec
