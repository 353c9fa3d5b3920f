// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/require.hpp>

namespace specdec {

/// The size of a bridge's, or a context's, target or draft vocabulary: b.target_size() or
/// b.draft_size() if it has it, else `otherwise`.
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

/// Requires that a bridge's tables, of these sizes, and its context are of the same vocabularies,
/// as far as the context tells. Errors: specdec::error that names `source`.
template <class Context>
void require_sizes(const Context& context, std::size_t draft_size, std::size_t target_size,
                   const char* source) {
    require_size<draft_id>(draft_size, draft_size_of(context, draft_size), source, "context");
    require_size<target_id>(target_size, target_size_of(context, target_size), source, "context");
}

} // namespace specdec
