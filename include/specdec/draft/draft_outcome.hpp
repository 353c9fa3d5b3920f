// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/drafting.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// What became of a round's draft d_1 .. d_n, in draft tokens: what is told to stop rules that
/// learn, once a round, before it is committed (see decode/outcome_of.hpp).
struct draft_outcome {
    std::span<const draft_progress> steps{}; ///< [n] how the draft looked behind each token
    std::size_t kept = 0;     ///< d_1 .. d_kept are wholly in what the target accepted
    bool rejected = false;    ///< d_(kept + 1) was decided on, and is not
    std::size_t forwards = 0; ///< drafter forwards: n, and those that deciding took
    std::size_t proposed = 0; ///< target tokens that the draft became
    std::size_t emitted = 1;  ///< target tokens that the round gives
};

/// What would have become of tokens that were all known before the round, `ids`, as far as `steps`
/// tells of them, now that it gives `committed`. Linear in them.
[[nodiscard]] inline draft_outcome outcome_of_known(std::span<const target_id> ids,
                                                    std::span<const draft_progress> steps,
                                                    std::span<const target_id> committed) {
    const std::size_t kept = common_prefix(ids.first(steps.size()), committed);
    return {
        .steps = steps, .kept = kept, .rejected = kept < steps.size() && kept < committed.size()};
}

/// A stop rule that learns: rule.learn(outcome), between a round's decision and the next draft. It
/// declares that (rule_traits).
template <class S>
concept LearnsLengths =
    StopRule<S> && requires(S& stop, const draft_outcome& outcome) { stop.learn(outcome); };

} // namespace specdec
