// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/bridge/token/mapped_law.hpp>
#include <specdec/decode/verified_round.hpp>
#include <specdec/draft/draft_outcome.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

/// The acceptance ratio min(1, p / q), for p / 0 as well: 1 where the target gives it anything.
[[nodiscard]] inline float acceptance_ratio(double p, double q) {
    return p < q ? static_cast<float>(p / q) : p > 0 ? 1.0F : 0.0F;
}

/// Whether proposal i is draft token i and nothing else: identity, union, TLI.
template <class Law>
inline constexpr bool token_for_token = false;
template <class Law, class Map>
inline constexpr bool token_for_token<mapped_law<Law, Map>> = true;

/// The labels of an acceptance head (OmniDraft, 3.3; SpecDec++) for the draft tokens that a round
/// decided on, d_1 .. d_m; returns m. What was drafted behind a rejected token has none.
///
///     a_i = min(1, p(y_i) / q(y_i))     where the bridge maps token for token
///     a_i = 1 if d_i was kept, else 0   otherwise: by the bytes that were accepted (outcome_of)
///
/// p is the law of the target's row of logits. `labels` has room for the draft. Complexity: a law
/// of each side a token, or O(m). Allocates nothing. Errors: specdec::error for too little room.
template <class Rows, class Law>
std::size_t acceptance_labels(const verified_round<Rows, Law>& round, const draft_outcome& outcome,
                              std::span<float> labels) {
    if (labels.size() < round.drafted.size())
        fail("acceptance labels", "labels", "expected room for one of each draft token");
    if constexpr (token_for_token<Law>) {
        for (std::size_t i = 0; i < round.evaluated; ++i) {
            const proposal<Law>& x = round.proposals[i];
            const double q = x.probability();
            double p = 0;
            if (x.token().valid())
                p = make_law(round.rows[i], round.sampling).probability(x.token());
            labels[i] = acceptance_ratio(p, q);
        }
        return round.evaluated;
    } else {
        const std::size_t decided = outcome.kept + (outcome.rejected ? 1U : 0U);
        for (std::size_t i = 0; i < decided; ++i)
            labels[i] = i < outcome.kept ? 1.0F : 0.0F;
        return decided;
    }
}

} // namespace specdec
