// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace specdec {

/// A bridge may tell the sizes of its vocabularies, which it reads tables by: b.target_size(),
/// b.draft_size(). Where it does not, `otherwise`.
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
