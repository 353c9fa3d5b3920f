// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "support/files.hpp"
#include <specdec/core/error.hpp>

namespace specdec::examples {

/// What a drafter computes of its LM head, as `--head` says it.
struct head_choice {
    enum class kind : unsigned char {
        full,
        trimmed, ///< the rows of a list of tokens (VocabTrim)
    };
    kind which = kind::full;
    std::string asked = "full"; ///< for errors
    std::filesystem::path list; ///< of trimmed: a file of draft tokens (token_list_file.hpp)

    [[nodiscard]] bool partial() const { return which != kind::full; }
};

/// Reads `full` or `trimmed:FILE`. Errors: specdec::error that names the flag, for any other form
/// and for a file that is not there.
[[nodiscard]] inline head_choice head_of(const std::string& asked) {
    constexpr std::string_view trimmed = "trimmed:";
    if (asked == "full")
        return {};
    if (!asked.starts_with(trimmed) || asked.size() == trimmed.size())
        throw error("--head", asked, "expected full or trimmed:FILE");
    head_choice choice{head_choice::kind::trimmed, asked, asked.substr(trimmed.size())};
    if (const std::string why = why_missing(choice.list); !why.empty())
        throw error("--head", choice.list.string(), "expected a list of draft tokens: " + why);
    return choice;
}

/// What the flag's help says of its values.
inline constexpr std::string_view head_help =
    "what a drafter of the reference engine computes of its LM head: full, or trimmed:FILE, the "
    "rows of a list of tokens alone (see calibrate; default: full)";

} // namespace specdec::examples
