// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "support/program/files.hpp"
#include <specdec/core/concepts.hpp>
#include <specdec_engine/file/json_fields.hpp>

namespace specdec::examples {

/// A part of a text.
struct text_piece {
    std::string_view text;
    encode_mode where;  ///< start: nothing stands before it
    bool ended = false; ///< whoever wrote it ended it here
};

/// use(text_piece) for all of a file or a pipe of any size, of which some 64 KiB are held. A
/// *.jsonl has a text a line, the answer to a prompt: {"text": ..., "ended": whether its end was
/// written}. Any other file is one text, in pieces that end with a line, so a token over such an
/// end is seen as two. Errors: specdec::error that names the file, and the line of what is no such
/// object.
template <class Use>
void read_pieces(const std::string& path, const Use& use) {
    constexpr std::size_t longest_line = std::size_t{1} << 26;
    const bool answers = path.ends_with(".jsonl");
    std::string held;
    std::size_t line = 0;
    encode_mode where = encode_mode::start;
    const auto take = [&](std::string_view some) {
        if (!answers) {
            if (!some.empty())
                use(text_piece{some, where});
            where = encode_mode::continuation;
            return;
        }
        while (!some.empty()) {
            const std::size_t end = some.find('\n');
            const std::string_view object = some.substr(0, end);
            some.remove_prefix(end == some.npos ? some.size() : end + 1);
            const std::string name = "line " + std::to_string(++line);
            if (object.find_first_not_of(" \t\r") == object.npos)
                continue;
            const nlohmann::json value = engine::parse_json(object, path, name);
            const engine::json_fields fields(value, path, name);
            use(text_piece{fields.text("text"), encode_mode::continuation,
                           fields.boolean_or("ended", false)});
        }
    };
    read_blocks(path, [&](std::string_view block) {
        const std::size_t lines = block.rfind('\n') + 1; // none: npos + 1 is 0
        held += block.substr(0, lines);
        if (lines > 0) {
            take(held);
            held.clear();
        }
        held += block.substr(lines);
        if (held.size() > longest_line)
            throw error(path, "file", "expected lines of at most 64 MiB");
        return true;
    });
    take(held);
}

} // namespace specdec::examples
