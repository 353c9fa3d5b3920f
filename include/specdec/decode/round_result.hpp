// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <specdec/bridge/vocabulary_sizes.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
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

/// A prompt and a prefix of the drafter's context that a session can begin with. Errors:
/// specdec::error.
template <class B>
void require_beginning(std::span<const target_id> prompt, std::span<const draft_id> draft_prefix,
                       std::size_t capacity, const B& bridge) {
    if (prompt.empty())
        fail("session", "prompt", "at least one token");
    if (prompt.size() >= capacity)
        fail("session", "prompt",
             "fewer tokens than the capacity of " + std::to_string(capacity) + ", got " +
                 std::to_string(prompt.size()));
    constexpr std::size_t most_ids = ~std::size_t{0};
    require_ids(prompt, target_size_of(bridge, most_ids), "session", "prompt");
    require_ids(draft_prefix, draft_size_of(bridge, most_ids), "session", "prefix");
}

/// The most tokens that a round behind `committed` tokens can commit where `room` more are wanted
/// and the target's context can hold `capacity`: of all that is fed, which is all but the round's
/// last token.
[[nodiscard]] inline std::size_t room_within(std::size_t committed, std::size_t capacity,
                                             std::size_t room) {
    const std::size_t left = capacity > committed ? capacity - committed : 0;
    return room <= left ? room : left + 1;
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
