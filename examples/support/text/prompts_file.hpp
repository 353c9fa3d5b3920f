// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/pair/model_flags.hpp"
#include "support/program/files.hpp"
#include "support/text/prompt.hpp"
#include <specdec/core/error.hpp>

namespace specdec::examples {

/// A prompt and where it came from.
struct given_prompt {
    std::vector<target_id> ids;
    std::string file, line;
};

/// A line, or a text up to its last line end, without the '\r' before that; of a file's first one
/// without a byte order mark.
[[nodiscard]] inline std::string_view bare_line(std::string_view line, bool first) {
    if (first && line.starts_with("\xEF\xBB\xBF"))
        line.remove_prefix(3);
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    return line;
}

/// use(line, its number from 1 on) for the lines of a file or a pipe, without what ends them and
/// without a byte order mark, until it returns false. What has no end is not read to its end:
/// errors: specdec::error for a line of more than 1 MiB; as read_blocks.
template <class Use>
void read_lines(const std::string& path, const Use& use) {
    constexpr std::size_t longest = std::size_t{1} << 20;
    std::string held;
    std::size_t number = 0;
    const auto take = [&](std::string_view line) {
        ++number;
        return use(bare_line(line, number == 1), number);
    };
    bool more = true;
    read_blocks(path, [&](std::string_view block) {
        while (more && !block.empty()) {
            const std::size_t end = block.find('\n');
            held += block.substr(0, end);
            if (held.size() > longest)
                throw error(path, "line " + std::to_string(number + 1),
                            "expected at most 1 MiB, one prompt a line");
            if (end == block.npos)
                break;
            block.remove_prefix(end + 1);
            more = take(held);
            held.clear();
        }
        return more;
    });
    if (more && !held.empty())
        (void)take(held);
}

/// The file of prompts, or the models' own.
[[nodiscard]] inline std::string prompts_path(const std::string& given, const model_flags& models) {
    const char* const own = wants_chat(models) ? "smollm2.txt" : "docs.txt";
    return !given.empty() ? given : (models_folder() / "prompts" / own).string();
}

/// The first prompts of a file or pipe, one a line (empty: the models' own prompts); limit 0: all
/// of them, at most a million. Words: a decoder. Errors: specdec::error that names the file and the
/// line, also of a prompt that leaves no room in the target's context.
template <class Words>
[[nodiscard]] std::vector<given_prompt> read_prompts(const std::string& given,
                                                     std::optional<std::size_t> given_limit,
                                                     const model_flags& models, Words& words) {
    constexpr std::size_t most = 1'000'000;
    const bool chat = wants_chat(models);
    const std::string path = prompts_path(given, models);
    const std::size_t limit = given_limit.value_or(chat ? 8 : 24);
    const std::size_t capacity = words.target_models().capacity();
    std::vector<given_prompt> prompts;
    read_lines(path, [&](std::string_view line, std::size_t number) {
        if (line.empty())
            return true;
        const std::string name = "line " + std::to_string(number);
        if (prompts.size() == most)
            throw error(path, name, "expected at most a million prompts (--limit)");
        std::vector<target_id> ids = chat ? chat_prompt(words, line) : plain_prompt(words, line);
        if (ids.empty())
            throw error(path, name, "gives no token");
        require_room(ids, capacity, path, name);
        prompts.push_back({std::move(ids), path, name});
        return limit == 0 || prompts.size() < limit;
    });
    if (prompts.empty())
        throw error(path, "file", "expected one prompt a line, found none");
    return prompts;
}

} // namespace specdec::examples
