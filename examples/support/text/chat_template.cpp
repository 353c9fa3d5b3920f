// SPDX-License-Identifier: MIT
#include "support/text/chat_template.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "support/program/files.hpp"
#include <specdec/core/error.hpp>
#include <specdec_engine/file/gguf.hpp>
#include <specdec_engine/file/parse_json.hpp>

namespace specdec::examples {

namespace {

namespace fs = std::filesystem;

/// Line ends as Jinja's texts have them: a backslash and an n.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += c == '\n' ? std::string("\\n") : std::string(1, c);
    return out;
}

/// What stands behind the first `open`, in either spelling of its line ends.
std::string_view behind(std::string_view text, const std::string& open) {
    for (const std::string& spelling : {escaped(open), open})
        if (const std::size_t at = text.find(spelling); at != std::string_view::npos)
            return text.substr(at + spelling.size());
    return {};
}

/// The system message that stands in the template as it is: between the marks, without a variable.
std::string system_message_in(std::string_view text, const chat_form& form) {
    if (form.system.open.empty())
        return {};
    std::string_view found = behind(text, form.system.open);
    const std::size_t end = found.find(form.end());
    if (end == std::string_view::npos)
        return {};
    found = found.substr(0, end);
    return found.find_first_of("'\"{}\\") == std::string_view::npos ? std::string(found)
                                                                    : std::string();
}

/// What looks like marks: the first of them.
std::string marks_in(std::string_view text) {
    constexpr std::size_t most = 4, longest = 40;
    std::string all;
    std::size_t found = 0;
    for (std::size_t i = 0; i < text.size() && found < most; ++i) {
        const bool angle = text[i] == '<', square = text.substr(i).starts_with("[INST]");
        const std::size_t end = text.find(square ? ']' : '>', i);
        if (!(angle || square) || end == std::string_view::npos || end - i > longest)
            continue;
        const std::string mark(text.substr(i, end - i + 1));
        if (mark.find_first_of(" \n'\"") != std::string::npos ||
            all.find(mark) != std::string::npos)
            continue;
        all += (all.empty() ? "" : ", ") + mark;
        ++found;
    }
    return all.empty() ? "none" : all;
}

std::string template_in(const nlohmann::json& config) {
    const auto found = config.find("chat_template");
    if (found == config.end())
        return {};
    if (found->is_string())
        return found->get<std::string>();
    if (found->is_array())
        for (const nlohmann::json& one : *found)
            if (one.is_object() && one.value("name", nlohmann::json()) == "default" &&
                one.contains("template") && one["template"].is_string())
                return one["template"].get<std::string>();
    return {};
}

} // namespace

std::string read_chat_template(const fs::path& model) {
    if (model.extension() == ".gguf") {
        const engine::gguf_file file(model);
        const engine::gguf_value* const text = file.find("tokenizer.chat_template");
        return text == nullptr ? std::string() : std::string(text->string());
    }
    if (const fs::path own = model / "chat_template.jinja"; why_missing(own).empty())
        return read_input(own.string(), 1);
    const fs::path config = model / "tokenizer_config.json";
    if (!why_missing(config).empty())
        return {};
    const auto document =
        engine::parse_json(read_input(config.string()), config.string(), "document");
    return document.is_object() ? template_in(document) : std::string();
}

chat_form form_of_template(std::string_view text, const std::string& source) {
    const std::string field = "chat_template";
    for (const char* date : {"strftime_now", "date_string"})
        if (text.find(date) != std::string_view::npos)
            throw error(source, field,
                        std::string("expected a template that does not write the date (") + date +
                            ")");
    for (chat_form form : chat_forms()) {
        bool all = true;
        for (const std::string& mark : form.marks)
            all = all && text.find(mark) != std::string_view::npos;
        if (!all)
            continue;
        if (behind(text, form.answer.open).starts_with("<think>"))
            throw error(source, field,
                        "expected a template that does not begin answers, found "
                        "<think>");
        form.system_message = system_message_in(text, form);
        form.trims = text.find("| trim") != std::string_view::npos ||
                     text.find("|trim") != std::string_view::npos ||
                     text.find(".strip()") != std::string_view::npos;
        return form;
    }
    std::string known;
    for (const chat_form& form : chat_forms())
        known += (known.empty() ? "" : ", ") + form.name + " (" + form.marks.front() + ")";
    throw error(source, field, "expected the marks of " + known + ", found " + marks_in(text));
}

} // namespace specdec::examples
