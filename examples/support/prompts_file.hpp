// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/files.hpp"
#include "support/model_flags.hpp"
#include "support/prompt.hpp"
#include <specdec/core/error.hpp>

namespace specdec::examples {

/// A prompt and where it came from.
struct given_prompt {
    std::vector<target_id> ids;
    std::string file, line;
};

/// The first prompts of a file or pipe, one a line (empty: the models' own prompts); limit 0: all
/// of them. Words: see plain_prompt. Errors: specdec::error that names the file and the line.
template <class Words>
[[nodiscard]] std::vector<given_prompt>
read_prompts(const std::string& given, std::optional<std::size_t> given_limit,
             const model_flags& models, const Words& words) {
    const bool chat = wants_chat(models);
    const std::string path =
        !given.empty()
            ? given
            : (models_folder() / "prompts" / (chat ? "smollm2.txt" : "docs.txt")).string();
    const std::string text = read_input(path);
    std::string_view rest = text;
    if (rest.starts_with("\xEF\xBB\xBF")) // a byte order mark
        rest.remove_prefix(3);
    const std::size_t limit = given_limit.value_or(chat ? 8 : 24);
    std::vector<given_prompt> prompts;
    for (std::size_t number = 1; !rest.empty() && (limit == 0 || prompts.size() < limit);
         ++number) {
        const std::size_t end = rest.find('\n');
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.empty())
            continue;
        std::vector<target_id> ids = chat ? chat_prompt(words, line) : plain_prompt(words, line);
        if (ids.empty())
            throw error(path, "line " + std::to_string(number), "gives no token");
        prompts.push_back({std::move(ids), path, "line " + std::to_string(number)});
    }
    if (prompts.empty())
        throw error("--prompts", path, "expected one prompt a line, found none");
    return prompts;
}

} // namespace specdec::examples
