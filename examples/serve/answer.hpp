// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/asked.hpp"
#include "serve/channel.hpp"

/// What a client reads: objects as the API of OpenAI has them.
namespace specdec::serve {

using nlohmann::ordered_json;

/// Text of a model as JSON: bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string written(const ordered_json& object);

/// The object of an error, for any status.
[[nodiscard]] ordered_json error_object(int status, const std::string& what,
                                        const std::string& field = {});
[[nodiscard]] int status_of(failure why);

/// The answer to one request, as events come in: whole, or in chunks.
class answer {
public:
    answer(const asked& request, std::string id, std::int64_t created);

    /// Takes an event in; returns the chunks that a stream sends for it.
    std::vector<ordered_json> take(event e);
    /// Whether all texts have ended.
    [[nodiscard]] bool whole() const { return ended_ == choices_.size(); }
    /// The answer in one object.
    [[nodiscard]] ordered_json object() const;
    /// What a stream sends last, if it was asked for usage.
    [[nodiscard]] ordered_json usage_chunk() const;

private:
    struct choice {
        std::string text{};
        ordered_json tokens = ordered_json::array(); // of log-probabilities
        ordered_json pieces = ordered_json::array(); // origins
        ordered_json rounds = ordered_json::array();
        ordered_json facts{};
        finish_reason finish = finish_reason::none;
        std::size_t offset = 0; // characters of the tokens before
    };
    [[nodiscard]] ordered_json frame(bool chunk) const;
    [[nodiscard]] ordered_json usage() const;
    [[nodiscard]] ordered_json reported(const std::vector<reported_token>& tokens,
                                        choice& of) const;
    [[nodiscard]] ordered_json in_form(const ordered_json& tokens) const;

    const asked& request_;
    std::string id_;
    std::int64_t created_;
    std::vector<choice> choices_;
    std::size_t ended_ = 0, prompt_tokens_ = 0, cached_tokens_ = 0, made_ = 0;
};

} // namespace specdec::serve
