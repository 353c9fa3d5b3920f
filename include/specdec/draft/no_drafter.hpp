// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/drafting.hpp>

namespace specdec {

/// The drafter of autoregressive decoding: has no rows. Models Drafter; goes with no_bridge.
struct no_drafter {
    [[nodiscard]] std::size_t capacity() const { return 0; }
    void sync(std::span<const draft_id>, std::size_t) {}
    [[nodiscard]] logits_row<draft_id> row() { return {}; }
    void push(draft_id) {}
    [[nodiscard]] law_version version() const { return 0; }
};
static_assert(Drafter<no_drafter>);

} // namespace specdec
