// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include <specdec/decode/session.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>
#include <specdec/speculation/tree/tree_text_session.hpp>

namespace specdec {

/// What a text's session is: a bridge that drafts trees has another one.
template <class Bridge, class Verifier, class D, class Laws>
struct session_of_text {
    using type = session<Bridge, Verifier, Laws>;
    static type make(Bridge bridge, Verifier verifier, const session_settings& settings, Laws laws,
                     const std::optional<any_tree_shape>&) {
        return {std::move(bridge), std::move(verifier), settings, std::move(laws)};
    }
};
template <class Bridge, class Verifier, class D, class Laws>
    requires requires(const Bridge& bridge) { bridge.settings().siblings; }
struct session_of_text<Bridge, Verifier, D, Laws> {
    using type = tree_text_session<Bridge, Verifier, D, Laws>;
    static type make(Bridge bridge, Verifier verifier, const session_settings& settings, Laws laws,
                     const std::optional<any_tree_shape>& shape) {
        return {std::move(bridge), std::move(verifier), settings, std::move(laws), *shape};
    }
};

} // namespace specdec
