// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/logit_gradient.hpp>
#include <specdec/learn/loss/row_softmax.hpp>

namespace specdec {

/// Negative log-likelihood of a draft token, weighted: -weight log q(d), q over the whole draft
/// vocabulary. Writes its gradient with respect to the logits, weight (q - 1[d]) / T, to `gradient`
/// [|D|]. Complexity: O(|D|). Allocates nothing. Errors: specdec::error for an id outside the row,
/// one whose logit is -infinity (nothing can raise it), and as logit_gradient.
inline double nll_loss(const row_softmax& q, draft_id d, std::span<float> gradient,
                       double weight = 1) {
    require_ids(std::span<const draft_id>(&d, 1), q.size(), "NLL loss", "token");
    if (!(q.log_probability(d) > -builtin::infinity))
        fail("NLL loss", "drafter's token", "expected a token that the logits allow");
    logit_gradient dz(q, gradient);
    dz.add(d, -1);
    dz.finish(weight);
    return -weight * q.log_probability(d);
}

/// Rows of gradients fit the rows of logits: [rows, vocabulary], one row behind the other. O(1).
inline void require_gradients(std::span<const float> gradients, std::size_t rows,
                              std::size_t vocabulary, const char* source) {
    if (gradients.size() != rows * vocabulary)
        fail(source, "gradients",
             "expected " + std::to_string(rows) + " rows of " + std::to_string(vocabulary) +
                 ", found " + std::to_string(gradients.size()) + " numbers");
}

/// NLL of the draft tokens d_1 .. d_n that an accepted target token t stands for (OmniDraft, Eq. 3
/// and 4, the n-gram's part):
///
///     lambda * L_N-gram = -lambda sum_j log q_j(d_j)
///
/// lambda is a number (the paper's 0.2), or p.probability(t), the verified target probability: the
/// paper's point-wise KL. It is held constant. q_j is softmax(z_j / T) of row j, the one behind
/// d_1 .. d_{j-1}, over the whole draft vocabulary. Writes the gradient of each row to `gradients`.
/// Shapes: rows [n, |D|], ids [n], gradients [n, |D|]. Complexity: O(n |D|). Allocates nothing.
/// Errors: specdec::error for rows, ids and gradients that do not fit, and as nll_loss.
inline double ngram_nll_loss(logits_rows<draft_id> rows, std::span<const draft_id> ids,
                             std::span<float> gradients, double lambda, double temperature = 1) {
    require_rows(rows, ids.size(), rows.vocabulary(), "n-gram NLL loss");
    require_gradients(gradients, rows.size(), rows.vocabulary(), "n-gram NLL loss");
    double sum = 0;
    for (std::size_t j = 0; j < ids.size(); ++j)
        sum += nll_loss(row_softmax(rows[j], temperature), ids[j],
                        gradients.subspan(j * rows.vocabulary(), rows.vocabulary()), lambda);
    return sum;
}

} // namespace specdec
