// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/token_id.hpp>

namespace specdec {

/// What it costs, in tokens, to give a sequence that holds `held` to a text that begins with
/// `prompt`: each token of the prompt that has to be fed, and half of each token that is lost, as a
/// later text might have begun with it. same_key: whether both have one context_key; else all is
/// lost.
template <class Id>
[[nodiscard]] double cost_of_reuse(std::span<const Id> held, std::span<const Id> prompt,
                                   bool same_key = true) {
    const std::size_t common = same_key ? common_prefix<Id>(held, prompt) : 0;
    return static_cast<double>(prompt.size() - common) +
           0.5 * static_cast<double>(held.size() - common);
}

/// Of the sequences for which is_free(s), the one that costs least to give to a text; of several
/// the one that was used least recently, and of these the first. `sequences` if none is free.
///
///     cost_of(s)     cost_of_reuse of what it holds, and of the text
///     last_used(s)   greater for a sequence that was used later
template <class Free, class Cost, class Used>
[[nodiscard]] std::size_t best_sequence(std::size_t sequences, const Free& is_free,
                                        const Cost& cost_of, const Used& last_used) {
    std::size_t best = sequences;
    double least = 0;
    for (std::size_t s = 0; s < sequences; ++s) {
        if (!is_free(s))
            continue;
        const double cost = cost_of(s);
        if (best == sequences || cost < least ||
            (cost == least && last_used(s) < last_used(best))) {
            best = s;
            least = cost;
        }
    }
    return best;
}

} // namespace specdec
