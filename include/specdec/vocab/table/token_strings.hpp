// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include <specdec/core/token_id.hpp>

namespace specdec {

/// Whether a string of target tokens begins with another.
[[nodiscard]] inline bool begins_with(std::span<const target_id> tokens,
                                      std::span<const target_id> beginning) {
    return common_prefix(tokens, beginning) == beginning.size();
}

/// Target tokens that a draft may become, and their bytes.
struct wanted_tokens {
    std::span<const target_id> tokens;
    std::string_view text;
};

/// Whether the tokens, all of them text, have together these bytes.
template <class Tokenizer, class Id>
[[nodiscard]] bool spells(const Tokenizer& tokenizer, std::span<const Id> ids,
                          std::string_view bytes) {
    for (const Id id : ids) {
        const std::string_view part = tokenizer.bytes(id);
        if (part.empty() || !bytes.starts_with(part))
            return false;
        bytes.remove_prefix(part.size());
    }
    return bytes.empty();
}

} // namespace specdec
