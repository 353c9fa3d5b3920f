// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace specdec {

/// The size of a bridge's target or draft vocabulary: b.target_size() or b.draft_size() if the
/// bridge has it, else `otherwise`.
template <class B>
[[nodiscard]] std::size_t target_size_of(const B& bridge, std::size_t otherwise) {
    if constexpr (requires { bridge.target_size(); })
        return bridge.target_size();
    else
        return otherwise;
}
template <class B>
[[nodiscard]] std::size_t draft_size_of(const B& bridge, std::size_t otherwise) {
    if constexpr (requires { bridge.draft_size(); })
        return bridge.draft_size();
    else
        return otherwise;
}

} // namespace specdec
