// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <specdec/bridge/context/bridge.hpp>

namespace specdec {

/// A bridge that never proposes, for decoding without a drafter: the loop is the same, with empty
/// drafts. Models Bridge with any drafter.
struct no_bridge {
    using law_type = one_hot_law<target_id>;

    void start(std::span<const draft_id>) {}
    void follow(std::span<const target_id>) {}

    template <class D, class Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D&, const Stop&, C&, const draft_request&) {
        return draft_view<law_type>::nothing(no_draft::no_drafter);
    }
};

} // namespace specdec
