// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/error.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/head/token_groups.hpp>
#include <specdec/learn/loss/logit_gradient.hpp>
#include <specdec/learn/loss/row_softmax.hpp>

namespace specdec::papers {

/// The loss of a routed head's router at one position, weighted (CORAL, section 3.3, Eq. 9; the
/// paper's p is the draft's and its q the target's):
///
///     - weight * sum over the groups g of p(g) log router(g),    p(g) = sum of p(t) over t of g
///
/// router = softmax(route), p the target's law over the same ids. Tokens of no group have no part:
/// p(g) is renormalised over the groups; where p has no mass in them: 0, with gradient 0. Writes
/// the gradient with respect to `route`, weight (router - p), to `gradient`. Shapes: route
/// [groups], gradient [groups]. Complexity: O(tokens of all groups). Allocates nothing. Errors:
/// specdec::error for sizes that do not fit, and as logit_gradient.
template <class Id, LawOf<target_id> P>
double router_loss(const P& p, const token_groups<Id>& groups, std::span<const float> route,
                   std::span<float> gradient, double weight = 1) {
    require_size<target_id>(p.size(), groups.vocabulary_size(), "router loss", "groups");
    if (route.size() != groups.size())
        fail("router loss", "route", "expected a logit of each group");
    const row_softmax router(logits_row<draft_id>{route}); // the groups are its ids
    logit_gradient dz(router, gradient);
    double mass = 0, sum = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        double inside = 0;
        for (const Id id : groups[g])
            inside += p.probability(id_at<target_id>(id.index()));
        mass += inside;
        sum -= inside * router.log_probability(id_at<draft_id>(g));
        dz.add(id_at<draft_id>(g), -inside);
    }
    if (!(mass > 0))
        return 0;
    dz.finish(weight / mass);
    return weight * sum / mass;
}

} // namespace specdec::papers
