// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/model_flags.hpp"
#include "support/prompt.hpp"
#include <specdec/core/error.hpp>

namespace specdec::examples {

/// A prompt and where it came from.
struct given_prompt {
    std::vector<target_id> ids;
    std::string file, line;
};

/// The first prompts of a file, one a line (empty: the models' own prompts); limit 0: all of them.
/// Words: see plain_prompt. Errors: specdec::error that names the file and the line.
template <class Words>
[[nodiscard]] std::vector<given_prompt>
read_prompts(const std::string& given, std::optional<std::size_t> given_limit,
             const model_flags& models, const Words& words) {
    const bool chat = wants_chat(models);
    const std::string path =
        !given.empty()
            ? given
            : (models_folder() / "prompts" / (chat ? "smollm2.txt" : "docs.txt")).string();
    std::ifstream file(path);
    if (!file)
        throw error("--prompts", path, "expected a readable file with one prompt a line");
    const std::size_t limit = given_limit.value_or(chat ? 8 : 24);
    std::vector<given_prompt> prompts;
    std::size_t number = 0;
    for (std::string line; std::getline(file, line) && (limit == 0 || prompts.size() < limit);) {
        ++number;
        if (line.ends_with('\r'))
            line.pop_back();
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
