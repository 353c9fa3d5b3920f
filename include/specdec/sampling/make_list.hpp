// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/contract.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/sampling/law/weighted_row.hpp>

namespace specdec {

/// Makes a list of some logits: the softmax_law of a row that has logits[k] at ids[k] and -infinity
/// elsewhere, without making that row. Writes the ids that the cutoffs leave, with their
/// probabilities, into `out`, and returns how many there are: one at temperature 0 (the lowest id
/// among equals), none if every logit is -infinity.
///
/// Pre: ids ascend; logits.size() == ids.size() <= out.size(). Complexity: that of softmax_law over
/// the ids alone. Allocates nothing. Errors: as softmax_law.
template <class Id>
std::size_t make_list(std::span<const Id> ids, std::span<const float> logits,
                      const sampling_parameters& sampling, std::span<weighted_id<Id>> out) {
    SPECDEC_PRECONDITION(logits.size() == ids.size() && ids.size() <= out.size());
    if (!any_allowed(logits))
        return 0;
    const weighted_row law(logits, sampling, side_of<Id>());
    if (sampling.temperature == 0) {
        out[0] = {ids[law.top()], 1.0F};
        return 1;
    }
    constexpr std::size_t chunk = 256;
    float weights[chunk];
    const bool cut = sampling.top_k > 0 || sampling.top_p < 1 || sampling.min_p > 0;
    std::size_t n = 0;
    for (std::size_t first = 0; first < ids.size(); first += chunk) {
        const std::size_t here = ids.size() - first < chunk ? ids.size() - first : chunk;
        const auto unit = static_cast<float>(law.weights(first, std::span(weights, here)));
        if (!cut) { // without the dependence on what was written before
            for (std::size_t j = 0; j < here; ++j)
                out[first + j] = {ids[first + j], weights[j] * unit};
            n += here;
            continue;
        }
        for (std::size_t j = 0; j < here; ++j) {
            out[n] = {ids[first + j], weights[j] * unit};
            n += out[n].weight > 0 ? 1U : 0U;
        }
    }
    return n;
}

} // namespace specdec
