// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/decoder.hpp"

namespace specdec::examples {

/// The control token of that printed name. Errors: specdec::error where the target has none.
[[nodiscard]] inline target_id control_token(const decoder& d, std::string_view name) {
    const vocabulary& table = d.target_table();
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table.kind(i) == token_kind::control && table.entry(i) == name)
            return id_at<target_id>(i);
    throw error("--chat", std::string(name),
                "expected a control token of " + d.facts().target.name + ", which has none");
}

/// A text for the target to continue.
[[nodiscard]] inline std::vector<target_id> plain_prompt(const decoder& d, std::string_view text) {
    std::vector<target_id> ids;
    if (const auto begin = d.begin_token())
        ids.push_back(*begin);
    d.encode(text, text_position::start, ids);
    return ids;
}

/// A question in ChatML, as SmolLM2's template has it with its own system message. The marks are
/// put in as ids: what looks like one in the question is text.
[[nodiscard]] inline std::vector<target_id> chat_prompt(const decoder& d,
                                                        std::string_view question) {
    const target_id start = control_token(d, "<|im_start|>"), end = control_token(d, "<|im_end|>");
    std::vector<target_id> ids;
    const auto message = [&](const std::string& text) {
        ids.push_back(start);
        d.encode(text, text_position::continuation, ids);
    };
    const auto close = [&] {
        ids.push_back(end);
        d.encode("\n", text_position::continuation, ids);
    };
    message("system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face");
    close();
    message("user\n" + std::string(question));
    close();
    message("assistant\n");
    return ids;
}

} // namespace specdec::examples
