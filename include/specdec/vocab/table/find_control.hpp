// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// The id of the control token of that printed name, such as "<|im_end|>"; the first of several.
/// Text tokens of the same bytes are others. Complexity: linear in the vocabulary. Allocates
/// nothing.
[[nodiscard]] inline std::optional<std::size_t> find_control(const vocabulary& table,
                                                             std::string_view name) {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table.kind(i) == token_kind::control && table.entry(i) == name)
            return i;
    return std::nullopt;
}

} // namespace specdec
