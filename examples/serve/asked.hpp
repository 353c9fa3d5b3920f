// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/text/json_grammar.hpp"
#include "support/text/prompt.hpp"
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/sampling/law/parameters.hpp>

/// What a client asks, read from the body of its request.
namespace specdec::serve {

/// A request that is not answered: a status of HTTP, what was wrong, and in which field.
struct refused : std::runtime_error {
    refused(int code, const std::string& what, std::string in = {})
        : std::runtime_error(what), status(code), field(std::move(in)) {}
    int status;
    std::string field;
};

/// What one request may ask at most.
struct request_limits {
    std::size_t tokens = 1024; ///< of an output
    std::size_t choices = 8;   ///< `n`
    std::size_t likeliest = 20;
    std::size_t stops = 8, stop_bytes = 256;
};

/// A request to continue a text or to answer in a talk.
struct asked {
    bool chat = false;
    std::string prompt;                                    ///< of a completion
    std::vector<specdec::examples::chat_message> messages; ///< of a chat
    std::string model;
    context_key key = 0; ///< of the model's adapters, which whoever knows the models finds
    sampling_parameters sampling{};
    std::optional<std::uint64_t> seed{};
    std::size_t max_tokens = 0;
    std::size_t choices = 1;
    std::vector<std::string> stops{};
    std::optional<std::size_t> likeliest{};                   ///< with log-probabilities: how many
    std::optional<specdec::examples::json_grammar> grammar{}; ///< that the output has to obey
    std::int64_t priority = 0; ///< those with the least are begun first
    bool stream = false;
    bool usage_in_stream = false;
    bool draft = true;    ///< `speculative`: false decodes without drafts
    bool origins = false; ///< `origins`: where each part of the text came from
};

/// Reads the body of /v1/completions, or with `chat` of /v1/chat/completions. Fields that are not
/// known, and values that ask for what is not there, are refused by name. Errors: refused.
[[nodiscard]] asked read_request(std::string_view body, bool chat, const request_limits& limits);

} // namespace specdec::serve
