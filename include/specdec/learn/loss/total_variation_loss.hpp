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

/// Total variation over the direct map, weighted: the probability that token rejection rejects what
/// TLI proposes, so that its gradient is acceptance's own.
///
///     weight * (1 - a),    a = sum over t of min(p(t), q'(t))
///     da / dlog q'(t) = q'(t) m(t),    m(t) = 1 where q'(t) < p(t), else 0
///
/// Papers: the acceptance is Leviathan et al. 2023, Cor. 3.6; as a loss Zhou et al. 2024
/// (DistillSpec). p is not renormalised over the shared tokens: what the drafter cannot propose is
/// rejected mass whatever it learns. Where q'(t) = p(t) the loss has a kink, and this is one of its
/// derivatives.
///
/// p, gradient, complexity, allocation and errors: as forward_kl_loss.
template <LawOf<target_id> P>
double total_variation_loss(const P& p, const shared_softmax& q, std::span<float> gradient,
                            double weight = 1) {
    require_size<target_id>(p.size(), q.map().target_size(), "total variation loss", "map");
    logit_gradient dz(q.row(), gradient);
    double accepted = 0;
    q.each_with_mass(p, [&](target_id t, double p_t, double log_q) {
        const double q_t = builtin::exp(log_q);
        accepted += q_t < p_t ? q_t : p_t;
        if (q_t < p_t)
            q.add(dz, t, -q_t);
    });
    dz.finish(weight);
    return weight * (1 - accepted);
}

} // namespace specdec
