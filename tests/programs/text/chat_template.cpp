// SPDX-License-Identifier: MIT
#include "support/text/chat_template.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace chat_template_tests {

using namespace specdec;
using namespace specdec::examples;

constexpr std::string_view chatml =
    "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nBe kind.<|im_end|>\\n' }}"
    "{% endif %}{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + "
    "'<|im_end|>\\n' }}{% endfor %}{{ '<|im_start|>assistant\\n' }}";
constexpr std::string_view gemma =
    "{% for m in messages %}{{ '<start_of_turn>' + role + '\n' + (m['content'] | trim) + "
    "'<end_of_turn>\n' }}{% endfor %}{{ '<start_of_turn>model\n' }}";
constexpr std::string_view llama =
    "{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\\n\\n' + "
    "m['content'] | trim + '<|eot_id|>' }}{% endfor %}";
constexpr std::string_view phi = "{% if m.role == 'system' %}{{'<|system|>\\n' + c + '<|end|>\\n'}}"
                                 "{% elif m.role == 'user' %}{{'<|user|>\\n' + c + '<|end|>\\n' + "
                                 "'<|assistant|>\\n'}}{% endif %}";

/// Words whose tokens are bytes and the marks of a form: what a prompt is, can be read.
struct toy_words {
    explicit toy_words(const chat_form& form) {
        for (unsigned byte = 0; byte < 256; ++byte)
            table.add(std::string(1, static_cast<char>(byte)), token_kind::normal);
        for (const std::string& mark : form.marks)
            table.add(mark, token_kind::control);
    }
    [[nodiscard]] std::optional<target_id> begin_token() const { return {}; }
    void encode(std::string_view text, encode_mode, std::vector<target_id>& out) const {
        for (const char c : text)
            out.push_back(id_at<target_id>(static_cast<unsigned char>(c)));
    }
    [[nodiscard]] const vocabulary& target_table() const { return table; }
    /// Marks in brackets.
    [[nodiscard]] std::string read(const std::vector<target_id>& ids) const {
        std::string text;
        for (const target_id id : ids)
            text += id.index() < 256 ? std::string(table.entry(id.index()))
                                     : "[" + std::string(table.entry(id.index())) + "]";
        return text;
    }
    vocabulary table;
};

std::string prompt(std::string_view text, const std::vector<chat_message>& talk) {
    const chat_form form = form_of_template(text, "test");
    const toy_words words(form);
    return words.read(chat_prompt(words, form, talk));
}
std::string refused(std::string_view text) {
    try {
        return "known as " + form_of_template(text, "test").name;
    } catch (const error& problem) {
        return std::string(problem.expected());
    }
}

const std::vector<chat_message> talk{
    {"system", "S "}, {"user", " Q "}, {"assistant", "A"}, {"user", "<|im_end|>"}};

TEST_CASE("templates are known by their marks", "[chat_template]") {
    CHECK(prompt(chatml, talk) ==
          "[<|im_start|>]system\nS [<|im_end|>]\n[<|im_start|>]user\n Q [<|im_end|>]\n"
          "[<|im_start|>]assistant\nA[<|im_end|>]\n[<|im_start|>]user\n<|im_end|>[<|im_end|>]\n"
          "[<|im_start|>]assistant\n");
    CHECK(prompt(gemma, talk) ==
          "[<start_of_turn>]user\nS\n\nQ[<end_of_turn>]\n[<start_of_turn>]model\nA[<end_of_turn>]\n"
          "[<start_of_turn>]user\n<|im_end|>[<end_of_turn>]\n[<start_of_turn>]model\n");
    CHECK(prompt(llama, {{"user", "Q\n"}}) ==
          "[<|start_header_id|>]user[<|end_header_id|>]\n\nQ[<|eot_id|>]"
          "[<|start_header_id|>]assistant[<|end_header_id|>]\n\n");
    CHECK(prompt(phi, {{"system", "S"}, {"user", "Q"}}) ==
          "[<|system|>]\nS[<|end|>]\n[<|user|>]\nQ[<|end|>]\n[<|assistant|>]\n");
}

TEST_CASE("a template's own system message is the one that is put in", "[chat_template]") {
    CHECK(prompt(chatml, {{"user", "Q"}})
              .starts_with("[<|im_start|>]system\nBe kind.[<|im_end|>]\n"));
    std::string without(chatml);
    without.erase(0, without.find("{% for"));
    CHECK(prompt(without, {{"user", "Q"}}).starts_with("[<|im_start|>]user\nQ"));
}

TEST_CASE("other templates are refused by what is in them", "[chat_template]") {
    CHECK(refused("{{ bos_token }}[INST] {{ m }} [/INST]").find("found [INST]") !=
          std::string::npos);
    CHECK(refused("{{ '<|turn|>' }}").find("found <|turn|>") != std::string::npos);
    CHECK(refused("{{ m }}").find("found none") != std::string::npos);
    CHECK(refused(std::string(chatml) + "{{ strftime_now('%d') }}").find("date") !=
          std::string::npos);
    std::string thinks(chatml);
    thinks.insert(thinks.rfind("' }}"), "<think>\\n");
    CHECK(refused(thinks).find("<think>") != std::string::npos);
}

TEST_CASE("folders have their template in one of two files", "[chat_template]") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / "specdec_chat_template";
    fs::create_directories(folder);
    const auto write = [&](const char* name, std::string_view text) {
        std::ofstream(folder / name) << text;
    };
    write("tokenizer_config.json", R"({"chat_template": "one"})");
    CHECK(read_chat_template(folder) == "one");
    write("tokenizer_config.json", R"({"chat_template": [{"name": "tool_use", "template": "two"},
                                                         {"name": "default", "template": "three"}]})");
    CHECK(read_chat_template(folder) == "three");
    write("tokenizer_config.json", "{}");
    CHECK(read_chat_template(folder).empty());
    write("chat_template.jinja", "four");
    CHECK(read_chat_template(folder) == "four");
    fs::remove_all(folder);
    CHECK(read_chat_template(folder).empty());
}

} // namespace chat_template_tests
