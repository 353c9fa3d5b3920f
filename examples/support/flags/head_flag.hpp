// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace specdec::examples {

/// What a drafter computes of its LM head, as `--head` says it.
struct head_choice {
    enum class kind : unsigned char {
        full,
        trimmed,  ///< the rows of a list of tokens (VocabTrim)
        adaptive, ///< the same, and the list follows the text
        routed,   ///< the likeliest groups of tokens (CORAL)
    };
    kind which = kind::full;
    std::string asked;                  ///< for errors; empty: the flag was not given
    std::filesystem::path list;         ///< a file of draft tokens (token_list_file.hpp)
    std::size_t groups = 0, active = 0; ///< of routed

    [[nodiscard]] bool partial() const { return which != kind::full; }
};

/// Reads `full`, `trimmed:FILE`, `adaptive:FILE` or `routed:N/n`. Errors: specdec::error that names
/// the flag, for any other form and for a file that is not there.
[[nodiscard]] head_choice head_of(const std::string& asked);

/// What the flag's help says of its values.
inline constexpr std::string_view head_help =
    "what a drafter of the CPU engine computes of its LM head: full (default); trimmed:FILE, "
    "the rows of a list of tokens (see calibrate; default for an EAGLE-style drafter with a "
    "kept.json in its folder); adaptive:FILE, a list that follows the output; or routed:N/n, the n "
    "likeliest of N groups of tokens, if its folder has a router.safetensors";

} // namespace specdec::examples
