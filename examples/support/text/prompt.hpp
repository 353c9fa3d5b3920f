// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/pair/side.hpp"

namespace specdec::examples {

/// A text for the target to continue. Words: a decoder, or whatever has the same begin_token(),
/// encode() and target_table().
template <class Words>
[[nodiscard]] std::vector<target_id> plain_prompt(const Words& d, std::string_view text) {
    std::vector<target_id> ids;
    if (const auto begin = d.begin_token())
        ids.push_back(*begin);
    d.encode(text, encode_mode::start, ids);
    return ids;
}

/// The marks of a chat form, and what the system says in it.
struct chat_form {
    std::string_view start, end, system, user, answerer;
};
inline constexpr chat_form chat_forms[] = {
    // As SmolLM2's template has it with its own system message.
    {"<|im_start|>", "<|im_end|>",
     "system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face", "user\n",
     "assistant\n"},
    {"<start_of_turn>", "<end_of_turn>", "", "user\n", "model\n"}, // Gemma
};

/// A question in the target's chat form. The marks are put in as ids: what looks like one in the
/// question is text. Errors: specdec::error where the target knows none of the forms.
template <class Words>
[[nodiscard]] std::vector<target_id> chat_prompt(const Words& d, std::string_view question) {
    for (const chat_form& form : chat_forms) {
        const auto start = find_control(d.target_table(), form.start);
        const auto end = find_control(d.target_table(), form.end);
        if (!start || !end)
            continue;
        std::vector<target_id> ids;
        if (const auto begin = d.begin_token())
            ids.push_back(*begin);
        const auto message = [&](const std::string& text) {
            ids.push_back(id_at<target_id>(*start));
            d.encode(text, encode_mode::continuation, ids);
        };
        const auto close = [&] {
            ids.push_back(id_at<target_id>(*end));
            d.encode("\n", encode_mode::continuation, ids);
        };
        if (!form.system.empty()) {
            message(std::string(form.system));
            close();
        }
        message(std::string(form.user) + std::string(question));
        close();
        message(std::string(form.answerer));
        return ids;
    }
    throw error("--chat", "marks",
                "expected control tokens of a known chat form (" +
                    std::string(chat_forms[0].start) + " or " + std::string(chat_forms[1].start) +
                    "); the target has none");
}

/// A text needs room for a token behind its prompt. `capacity`: of the target's context. Errors:
/// specdec::error that names where the prompt came from, and the flag that makes room.
inline void require_room(std::span<const target_id> prompt, std::size_t capacity,
                         const std::string& source, const std::string& field) {
    if (prompt.size() >= capacity)
        throw error(source, field,
                    "expected fewer tokens than the " + std::to_string(capacity) +
                        " of the context (--context), found " + std::to_string(prompt.size()));
}

} // namespace specdec::examples
