// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/process/log_probabilities.hpp>
#include <specdec/sampling/parameters.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// Settings of a session.
struct session_settings {
    sampling_parameters target{};     ///< how the target's rows become p
    sampling_parameters draft{};      ///< how the drafter's rows become q; any choice is lossless
    std::size_t capacity = 2048;      ///< most tokens of the sequence, prompt included
    std::size_t max_proposals = 16;   ///< most target tokens proposed a round
    std::vector<target_id> end_ids{}; ///< tokens that end a text: EOS, end of turn
    /// The round tells the log-probability of each token, and of so many of the likeliest at its
    /// place; nothing: of none.
    std::optional<std::size_t> log_probabilities{};
};

/// A prompt that a session can begin with. Errors: specdec::error.
inline void require_prompt(std::span<const target_id> prompt, std::size_t capacity) {
    if (prompt.empty())
        fail("session", "prompt", "at least one token");
    if (prompt.size() >= capacity)
        fail("session", "prompt",
             "fewer tokens than the capacity of " + std::to_string(capacity) + ", got " +
                 std::to_string(prompt.size()));
}

/// What a round decided, not yet part of the text: tokens to commit in order. Views into the
/// session, alive until its next call.
struct round_result {
    std::span<const target_id> tokens;      ///< the accepted proposals and one token of the target
    std::size_t accepted = 0;               ///< tokens[0 .. accepted) were proposals
    token_origin last = token_origin::free; ///< where tokens.back() came from
    std::span<const target_id> proposed;    ///< all proposals, kept or not
    std::span<const draft_id> drafted;      ///< what they were made from
    std::span<const draft_progress> steps;  ///< [drafted] how the draft looked behind each
    no_draft reason = no_draft::none;       ///< why nothing was proposed
    round_log_probabilities log_probabilities{}; ///< of `tokens`, if the settings ask for them

    [[nodiscard]] token_origin origin(std::size_t i) const {
        return i < accepted ? token_origin::accepted : last;
    }
};

} // namespace specdec
