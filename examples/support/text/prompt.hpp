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

/// How a talk is written: what stands before and after each message. The marks in it are control
/// tokens, all else is text.
struct chat_form {
    struct turn {
        std::string open, close;
    };
    std::string name;
    std::vector<std::string> marks; ///< the control tokens; the last one ends an answer
    turn system;                    ///< nothing: the first question begins with the message
    turn user, answer;
    std::string system_message; ///< if a talk brings none; empty: then there is none
    bool trims = false;         ///< spaces around a message are left out

    [[nodiscard]] const std::string& end() const { return marks.back(); }
};

/// The forms that are known, by their marks.
[[nodiscard]] inline const std::vector<chat_form>& chat_forms() {
    static const std::vector<chat_form> all{
        {"ChatML",
         {"<|im_start|>", "<|im_end|>"},
         {"<|im_start|>system\n", "<|im_end|>\n"},
         {"<|im_start|>user\n", "<|im_end|>\n"},
         {"<|im_start|>assistant\n", "<|im_end|>\n"},
         "You are a helpful AI assistant named SmolLM, trained by Hugging Face"},
        {"Gemma",
         {"<start_of_turn>", "<end_of_turn>"},
         {},
         {"<start_of_turn>user\n", "<end_of_turn>\n"},
         {"<start_of_turn>model\n", "<end_of_turn>\n"},
         ""},
        {"Llama 3",
         {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
         {"<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"},
         {"<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"},
         {"<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"},
         ""},
        {"Phi-3",
         {"<|system|>", "<|user|>", "<|assistant|>", "<|end|>"},
         {"<|system|>\n", "<|end|>\n"},
         {"<|user|>\n", "<|end|>\n"},
         {"<|assistant|>\n", "<|end|>\n"},
         ""}};
    return all;
}

/// A message of a talk. role: system (the first message only), user or assistant.
struct chat_message {
    std::string role, content;
};

/// Whether the target has the marks of a form as control tokens.
template <class Words>
[[nodiscard]] bool has_marks(const Words& d, const chat_form& form) {
    for (const std::string& mark : form.marks)
        if (!find_control(d.target_table(), mark))
            return false;
    return true;
}

/// The form whose marks the target has. Errors: specdec::error where it has none of them; `source`
/// and `field` are for it.
template <class Words>
[[nodiscard]] const chat_form& chat_form_of(const Words& d, const std::string& source = "--chat",
                                            const std::string& field = "marks") {
    std::string known;
    for (const chat_form& form : chat_forms()) {
        if (has_marks(d, form))
            return form;
        known += (known.empty() ? "" : ", ") + form.marks.front();
    }
    throw error(source, field,
                "expected control tokens of a known chat form (" + known +
                    "); the target has none");
}

/// A talk in a form, up to where the answer begins. The marks are put in as ids: what looks like
/// one in a message is text. Pre: has_marks(d, form). Errors: specdec::error for roles in another
/// order.
template <class Words>
[[nodiscard]] std::vector<target_id> chat_prompt(const Words& d, const chat_form& form,
                                                 std::span<const chat_message> messages,
                                                 const std::string& source = "--chat") {
    std::vector<target_id> ids;
    if (const auto begin = d.begin_token())
        ids.push_back(*begin);
    std::string text; // that is not in `ids` yet: between two marks it is encoded as one
    const auto flush = [&] {
        if (!text.empty())
            d.encode(std::exchange(text, {}), encode_mode::continuation, ids);
    };
    const auto put = [&](std::string_view marked) {
        while (!marked.empty()) {
            std::size_t first = marked.size(), length = 0;
            for (const std::string& mark : form.marks)
                if (const std::size_t at = marked.find(mark); at < first) {
                    first = at;
                    length = mark.size();
                }
            text += marked.substr(0, first);
            if (length > 0) {
                flush();
                ids.push_back(id_at<target_id>(
                    *find_control(d.target_table(), marked.substr(first, length))));
            }
            marked.remove_prefix(first + length);
        }
    };
    const auto trimmed = [&](std::string_view content) {
        constexpr std::string_view spaces = " \t\r\n";
        if (!form.trims)
            return content;
        const std::size_t first = content.find_first_not_of(spaces);
        return first == std::string_view::npos
                   ? std::string_view()
                   : content.substr(first, content.find_last_not_of(spaces) - first + 1);
    };
    const auto say = [&](const chat_form::turn& turn, const std::string& before,
                         std::string_view content) {
        put(turn.open);
        text += before;
        text += trimmed(content);
        put(turn.close);
    };
    std::string before; // the first question, where the form has no turn for the system
    if (!form.system_message.empty() && (messages.empty() || messages.front().role != "system"))
        say(form.system, {}, form.system_message);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const chat_message& message = messages[i];
        if (message.role == "user") {
            say(form.user, std::exchange(before, {}), message.content);
        } else if (message.role == "assistant") {
            say(form.answer, {}, message.content);
        } else if (message.role == "system" && i == 0) {
            if (form.system.open.empty())
                before = std::string(trimmed(message.content)) + "\n\n";
            else
                say(form.system, {}, message.content);
        } else {
            throw error(source, "messages[" + std::to_string(i) + "].role",
                        "expected user, assistant or, for the first message, system, found \"" +
                            message.role + "\"");
        }
    }
    put(form.answer.open);
    flush();
    return ids;
}

/// A question in the target's chat form. Errors: as chat_form_of.
template <class Words>
[[nodiscard]] std::vector<target_id> chat_prompt(const Words& d, std::string_view question) {
    const chat_message asked{"user", std::string(question)};
    return chat_prompt(d, chat_form_of(d), {&asked, 1});
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
