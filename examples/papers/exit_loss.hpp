// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/nll_loss.hpp>

namespace specdec::papers {

/// The loss of a drafter that may stop at several exits, at one position (S2D, Eq. 3, sorted
/// fine-tuning: SoFT):
///
///     weight * (sum over the exits n in B of L_n) / |B|
///
/// exits[n] is the row of logits behind exit n, by the one LM head that all share. L_n is any loss
/// of a row; S2D trains with the NLL of the text's next token:
///
///     exit_loss(exits, gradients, [&](logits_row<draft_id> z, std::span<float> dz, double weight)
///     {
///         return nll_loss(row_softmax(z), next, dz, weight);
///     });
///
/// Shapes: exits [|B|, |D|], gradients [|B|, |D|]. Complexity: that of the losses. Allocates
/// nothing. Errors: specdec::error for no exit, gradients of another size, and what the loss
/// throws.
template <class Loss>
    requires requires(Loss& loss, logits_row<draft_id> z, std::span<float> dz, double weight) {
        { loss(z, dz, weight) } -> std::convertible_to<double>;
    }
double exit_loss(logits_rows<draft_id> exits, std::span<float> gradients, Loss&& loss,
                 double weight = 1) {
    if (exits.size() == 0)
        fail("exit loss", "exits", "expected one or more");
    require_gradients(gradients, exits.size(), exits.vocabulary(), "exit loss");
    const double share = weight / static_cast<double>(exits.size());
    double sum = 0;
    for (std::size_t n = 0; n < exits.size(); ++n)
        sum += loss(exits[n], gradients.subspan(n * exits.vocabulary(), exits.vocabulary()), share);
    return sum;
}

} // namespace specdec::papers
