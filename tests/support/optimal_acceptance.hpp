// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/error.hpp>
#include <specdec/core/tree/tree_drafting.hpp>

namespace specdec {

namespace optimal_acceptance_detail {

/// P[k draws without replacement from q, behind those of `used`, are all in `set`].
[[nodiscard]] inline double all_within(std::span<const double> q, std::uint32_t set,
                                       std::uint32_t used, std::size_t k) {
    double rest = 0;
    for (std::size_t t = 0; t < q.size(); ++t)
        rest += (used >> t & 1U) != 0 ? 0.0 : q[t];
    if (k == 0 || !(rest > 0))
        return 1;
    double sum = 0;
    for (std::size_t t = 0; t < q.size(); ++t)
        if (q[t] > 0 && (used >> t & 1U) == 0 && (set >> t & 1U) != 0)
            sum += q[t] / rest * all_within(q, set, used | 1U << t, k - 1);
    return sum;
}

} // namespace optimal_acceptance_detail

/// The largest probability with which any lossless rule keeps one of k siblings: the meter of how
/// efficient a rule is at one node.
///
///     1 + min over sets H of tokens of P(H) - P[all siblings are in H]
///
/// Paper: Hu et al. 2025 (arXiv 2502.18779): the transport problem's dual. Over all sets, for at
/// most 16 tokens: O(2^V), and V^k more for each without replacement. Errors: specdec::error for
/// laws of different or larger size.
[[nodiscard]] inline double optimal_acceptance(std::span<const double> p, std::span<const double> q,
                                               std::size_t k, sibling_draw siblings) {
    if (p.size() != q.size() || p.empty() || p.size() > 16)
        fail("optimal acceptance", "laws", "expected two laws over the same 1 to 16 tokens");
    std::uint32_t likeliest = 0;
    for (std::size_t i = 0; i < k && siblings == sibling_draw::likeliest; ++i) {
        std::size_t best = q.size();
        for (std::size_t t = 0; t < q.size(); ++t)
            if ((likeliest >> t & 1U) == 0 && q[t] > 0 && (best == q.size() || q[t] > q[best]))
                best = t;
        if (best < q.size())
            likeliest |= 1U << best;
    }
    double least = 0; // of the empty set
    for (std::uint32_t set = 1; set < 1U << p.size(); ++set) {
        double of_p = 0, of_q = 0;
        for (std::size_t t = 0; t < p.size(); ++t)
            if ((set >> t & 1U) != 0) {
                of_p += p[t];
                of_q += q[t];
            }
        double within = (likeliest & ~set) == 0 ? 1.0 : 0.0;
        if (siblings == sibling_draw::independent) {
            within = 1;
            for (std::size_t i = 0; i < k; ++i)
                within *= of_q;
        } else if (siblings == sibling_draw::without_replacement) {
            within = optimal_acceptance_detail::all_within(q, set, 0, k);
        }
        least = of_p - within < least ? of_p - within : least;
    }
    return 1 + least;
}

} // namespace specdec
