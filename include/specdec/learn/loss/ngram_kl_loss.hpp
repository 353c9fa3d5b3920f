// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/logit_gradient.hpp>
#include <specdec/learn/loss/nll_loss.hpp>
#include <specdec/learn/loss/reverse_kl_loss.hpp>
#include <specdec/learn/loss/row_softmax.hpp>
#include <specdec/learn/loss/shared_softmax.hpp>

namespace specdec {

/// The approximate KL of an n-gram, weighted (OmniDraft, 3.2 and Table 6, "N-gram KL"): the reverse
/// KL over the shared tokens and the merged one, t = d_1 .. d_n, with the draft law of Eq. 2:
///
///     q'(t)   = q'_1(d_1) r            r = q_2(d_2) .. q_n(d_n)
///     q'(t_1) = q'_1(t_1) - q'(t)      t_1 the target's token of d_1
///     q'(x)   = q'_1(x)                otherwise
///     weight * sum over these tokens of q' log(q' / p'),   p' = max(p, floor), renormalised there
///
/// q'_1 = `first` is the law over shared tokens of the row where the n-gram begins (so q' sums to
/// 1), q_j of j > 1 is softmax(z_j / T) over the whole draft vocabulary, T that of `first`. Eq. 2
/// takes the mass of this n-gram only from its prefix, which is why the paper calls it approximate.
///
/// Writes gradients with respect to the logits of all n rows. Shapes: rest [n - 1, |D|], rows
/// behind d_1, d_1 d_2, ..; ids [n], n > 1; gradients [n, |D|], that of `first` in front. Where p
/// has no mass on these tokens: 0, with gradients 0. Complexity: O(n |D| + |T|), with a search for
/// each token in a list. Allocates nothing. Errors: specdec::error for sizes that do not fit, a d_1
/// without a partner (Eq. 2 has no case for it), a t that is shared or outside T, and as nll_loss
/// and reverse_kl_loss.
template <LawOf<target_id> P>
double ngram_kl_loss(const P& p, target_id t, const shared_softmax& first,
                     logits_rows<draft_id> rest, std::span<const draft_id> ids,
                     std::span<float> gradients, double weight = 1, probability_floor floor = {}) {
    constexpr const char* source = "n-gram KL loss";
    const std::size_t vocabulary = first.row().size();
    require_size<target_id>(p.size(), first.map().target_size(), source, "map");
    require_ids(std::span<const target_id>(&t, 1), p.size(), source, "token");
    require_ids(ids, vocabulary, source, "tokens");
    if (ids.size() < 2)
        fail(source, "drafter's tokens", "expected two or more");
    require_rows(rest, ids.size() - 1, vocabulary, source);
    require_gradients(gradients, ids.size(), vocabulary, source);
    validate(floor);
    const target_id prefix = first.map().to_target(ids[0]);
    if (!prefix.valid() || !(first.row().log_probability(ids[0]) > -builtin::infinity))
        fail(source, "drafter's first token", "expected a shared token that the logits allow");
    if (first.log_probability(t) > -builtin::infinity)
        fail(source, "target's token", "expected a token that is not shared");

    double log_r = 0;
    for (std::size_t j = 1; j < ids.size(); ++j)
        log_r += row_softmax(rest[j - 1], first.row().temperature()).log_probability(ids[j]);
    if (!(log_r > -builtin::infinity))
        fail(source, "drafter's tokens", "expected tokens that the logits allow");
    const double q_1 = first.row().probability(ids[0]);
    const double log_merged = first.row().log_probability(ids[0]) + log_r;
    const double merged = builtin::exp(log_merged);

    const auto row = [&](std::size_t j) { return gradients.subspan(j * vocabulary, vocabulary); };
    logit_gradient dz(first.row(), row(0));
    const double merged_log_ratio = log_merged - builtin::log(floor(p.probability(t)));
    double mass = p.probability(t), floored = floor(mass), sum = merged * merged_log_ratio;
    double prefix_log_ratio = 0;
    first.each(p, [&](target_id x, double p_x, double log_q) {
        mass += p_x;
        floored += floor(p_x);
        double q_x = builtin::exp(log_q), left = q_x, log_left = log_q;
        if (x == prefix) { // what q_1 - merged rounds to may be 0 where q_1 (1 - r) is not
            left = (q_x > q_1 ? q_x - q_1 : 0.0) - q_1 * builtin::expm1(log_r);
            log_left = builtin::log(left);
        }
        const double log_ratio = left > 0 ? log_left - builtin::log(floor(p_x)) : 0.0;
        if (x == prefix)
            prefix_log_ratio = log_ratio;
        sum += left * log_ratio;
        first.add(dz, x, q_x * log_ratio);
    });
    // log q'(t) is a sum over all n tokens: one derivative for each of them.
    const double w = merged * (merged_log_ratio - prefix_log_ratio);
    const double scale = mass > 0 ? weight : 0;
    dz.add(ids[0], w);
    dz.finish(scale);
    for (std::size_t j = 1; j < ids.size(); ++j)
        nll_loss(row_softmax(rest[j - 1], first.row().temperature()), ids[j], row(j), -scale * w);
    return mass > 0 ? weight * (sum + builtin::log(floored)) : 0;
}

} // namespace specdec
