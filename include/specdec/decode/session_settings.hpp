// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/bridge/context/vocabulary_sizes.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/process/log_probabilities.hpp>
#include <specdec/sampling/law/parameters.hpp>

namespace specdec {

/// Settings of a session, for callers of the templates; `speculation` makes them itself.
struct session_settings {
    /// How the target's logits become p: temperature and cutoffs.
    sampling_parameters target{};
    /// How the drafter's logits become q. Every choice is lossless.
    sampling_parameters draft{};
    /// The most tokens of the sequence, prompt included.
    std::size_t capacity = 2048;
    /// The most target tokens that a round proposes.
    std::size_t max_proposals = 16;
    /// Target tokens that end an output, such as EOS and end of turn.
    std::vector<target_id> end_ids{};
    /// Draft tokens after which a draft ends, whatever they mean to the target.
    std::vector<draft_id> draft_end_ids{};
    /// How many of the likeliest tokens a round reports with their log-probabilities, in addition
    /// to each of its tokens. The default: no log-probabilities.
    std::size_t log_probabilities = no_log_probabilities;
};

/// Requires a prompt that a session can begin with: not empty, shorter than the capacity, ids of
/// the vocabulary. Errors: specdec::error.
inline void require_prompt(std::span<const target_id> prompt, std::size_t capacity,
                           std::size_t vocabulary) {
    if (prompt.empty())
        fail("session", "prompt", "expected at least one token");
    if (prompt.size() >= capacity)
        fail("session", "prompt",
             "expected fewer tokens than the capacity of " + std::to_string(capacity) + ", found " +
                 std::to_string(prompt.size()));
    require_ids(prompt, vocabulary, "session", "prompt");
}

/// Requires a prompt, and a prefix of the drafter's context, of the bridge's vocabularies. Errors:
/// specdec::error.
template <class B>
void require_beginning(std::span<const target_id> prompt, std::span<const draft_id> draft_prefix,
                       std::size_t capacity, const B& bridge) {
    constexpr std::size_t most_ids = ~std::size_t{0};
    require_prompt(prompt, capacity, target_size_of(bridge, most_ids));
    require_ids(draft_prefix, draft_size_of(bridge, most_ids), "session", "prefix");
}

/// What a round may take: a number of tokens, wherever only these count.
struct round_room {
    std::size_t tokens; ///< that it commits at most
    std::size_t nodes;  ///< of a tree that the target has room for

    round_room(std::size_t all_tokens, std::size_t all_nodes = ~std::size_t{0})
        : tokens(all_tokens), nodes(all_nodes) {}
};

/// The room of a round after `committed` tokens, if `room` more are wanted and the target's
/// context holds `capacity`. All tokens of the round but the last one are fed.
[[nodiscard]] inline round_room room_within(std::size_t committed, std::size_t capacity,
                                            std::size_t room) {
    const std::size_t left = capacity > committed ? capacity - committed : 0;
    return {room <= left ? room : left + 1, left};
}

/// The most proposals of a round behind `committed` tokens that commits at most `room`: one token
/// is the target's own. Precondition: there is room for it.
[[nodiscard]] inline std::size_t proposals_within(const session_settings& settings,
                                                  std::size_t committed, std::size_t room) {
    const std::size_t space = settings.capacity - committed;
    const std::size_t most = (room < space ? room : space) - 1;
    return most < settings.max_proposals ? most : settings.max_proposals;
}

/// Requires room for a draft that a round has already. Errors: specdec::error.
inline void require_room(std::size_t proposals, std::size_t room, const char* source) {
    if (proposals > room)
        fail(source, "draft",
             "expected room for the " + std::to_string(proposals) +
                 " proposals that the round has already, or abandon() before, found room for " +
                 std::to_string(room));
}

/// Requires a round whose draft has ended, or was never begun. Errors: specdec::error.
inline void require_ended(bool begun, const char* source) {
    if (begun)
        fail(source, "verify",
             "expected a draft that has ended: draft() goes on with one in which something threw, "
             "abandon() gives it up");
}

} // namespace specdec
