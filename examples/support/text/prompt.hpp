// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/table/find_control.hpp>

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

/// The marks of a chat form, and the roles in it.
struct chat_form {
    std::string_view start, end;
    std::string_view system; ///< the role; empty: the first question begins with the message
    std::string_view system_message; ///< if a talk brings none
    std::string_view user, answerer;
};
inline constexpr chat_form chat_forms[] = {
    // ChatML, with the system message of SmolLM2's template.
    {"<|im_start|>", "<|im_end|>", "system",
     "You are a helpful AI assistant named SmolLM, trained by Hugging Face", "user", "assistant"},
    {"<start_of_turn>", "<end_of_turn>", "", "", "user", "model"}, // Gemma
};

/// A message of a talk. role: system (the first message only), user or assistant.
struct chat_message {
    std::string role, content;
};

/// The form whose marks are control tokens of the target; null where it knows none of the forms.
template <class Words>
[[nodiscard]] const chat_form* known_chat_form(const Words& d) {
    for (const chat_form& form : chat_forms)
        if (find_control(d.target_table(), form.start) && find_control(d.target_table(), form.end))
            return &form;
    return nullptr;
}

/// The same. Errors: specdec::error where there is none; `source` and `field` are for it.
template <class Words>
[[nodiscard]] const chat_form& chat_form_of(const Words& d, const std::string& source,
                                            const std::string& field) {
    if (const chat_form* form = known_chat_form(d))
        return *form;
    throw error(source, field,
                "expected control tokens of a known chat form (" +
                    std::string(chat_forms[0].start) + " or " + std::string(chat_forms[1].start) +
                    "); the target has none");
}

/// A talk in the target's chat form, up to where the answer begins. The marks are put in as ids:
/// what looks like one in a message is text. Errors: specdec::error for roles in another order, and
/// as chat_form_of.
template <class Words>
[[nodiscard]] std::vector<target_id>
chat_prompt(const Words& d, std::span<const chat_message> messages,
            const std::string& source = "--chat", const std::string& field = "marks") {
    const chat_form& form = chat_form_of(d, source, field);
    const auto start = id_at<target_id>(*find_control(d.target_table(), form.start));
    const auto end = id_at<target_id>(*find_control(d.target_table(), form.end));
    std::vector<target_id> ids;
    if (const auto begin = d.begin_token())
        ids.push_back(*begin);
    const auto open = [&](std::string_view role, const std::string& content) {
        ids.push_back(start);
        d.encode(std::string(role) + "\n" + content, encode_mode::continuation, ids);
    };
    const auto say = [&](std::string_view role, const std::string& content) {
        open(role, content);
        ids.push_back(end);
        d.encode("\n", encode_mode::continuation, ids);
    };
    std::string before; // the first question, where the form has no role for the system
    if (!form.system.empty() && (messages.empty() || messages.front().role != "system"))
        say(form.system, std::string(form.system_message));
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const chat_message& message = messages[i];
        if (message.role == "user") {
            say(form.user, std::exchange(before, {}) + message.content);
        } else if (message.role == "assistant") {
            say(form.answerer, message.content);
        } else if (message.role == "system" && i == 0) {
            if (form.system.empty())
                before = message.content + "\n\n";
            else
                say(form.system, message.content);
        } else {
            throw error(source, "messages[" + std::to_string(i) + "].role",
                        "expected user, assistant or, for the first message, system, found \"" +
                            message.role + "\"");
        }
    }
    open(form.answerer, "");
    return ids;
}

/// A question in the target's chat form.
template <class Words>
[[nodiscard]] std::vector<target_id> chat_prompt(const Words& d, std::string_view question) {
    const chat_message asked{"user", std::string(question)};
    return chat_prompt(d, {&asked, 1});
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
