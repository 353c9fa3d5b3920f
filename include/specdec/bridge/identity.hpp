// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/bridge/context/shared_context.hpp>
#include <specdec/bridge/token/draft_list_store.hpp>
#include <specdec/bridge/token/token_bridge.hpp>
#include <specdec/core/basic/builtins.hpp>

namespace specdec {

/// The map of two models with one vocabulary: draft id d is target id d. Their LM heads may be
/// padded to different sizes; only ids that both have may be drawn.
class identity_map {
public:
    /// Draft id d is target id d, so rows over D are rows over T.
    static constexpr bool keeps_ids = true;

    identity_map(std::size_t draft_size, std::size_t target_size)
        : draft_size_(draft_size), target_size_(target_size) {}

    [[nodiscard]] std::size_t draft_size() const { return draft_size_; }
    [[nodiscard]] std::size_t target_size() const { return target_size_; }
    [[nodiscard]] std::size_t shared() const {
        return draft_size_ < target_size_ ? draft_size_ : target_size_;
    }

    [[nodiscard]] target_id to_target(draft_id d) const {
        return d.index() < shared() ? target_id{d.value} : target_id{};
    }
    [[nodiscard]] draft_id to_draft(target_id t) const {
        return t.index() < shared() ? draft_id{t.value} : draft_id{};
    }
    [[nodiscard]] draft_id next_duplicate(draft_id) const { return {}; }

    [[nodiscard]] bool allows(draft_id d) const { return d.index() < shared(); }
    void prepare(std::span<const float> row, std::span<float> out) const {
        for (std::size_t d = 0; d < shared(); ++d)
            out[d] = row[d];
        for (std::size_t d = shared(); d < draft_size_; ++d)
            out[d] = -builtin::infinity;
    }

private:
    std::size_t draft_size_;
    std::size_t target_size_;
};

/// Standard speculative decoding with one vocabulary: the proposal is the draft token itself.
/// Paper: Timor et al. 2025, Alg. 5. Lossless with every verifier.
using identity_bridge = token_bridge<shared_context, identity_map>;

/// An identity bridge for a target context of `capacity` tokens.
[[nodiscard]] inline identity_bridge make_identity_bridge(std::size_t draft_size,
                                                          std::size_t target_size,
                                                          std::size_t capacity,
                                                          std::size_t max_draft) {
    return {identity_map(draft_size, target_size), shared_context(draft_size, capacity), max_draft};
}
/// The same with draft_list_store, for a drafter whose lists have at most `entries` entries.
template <class Kept>
[[nodiscard]] token_bridge<shared_context, identity_map, Kept>
make_identity_bridge(std::size_t draft_size, std::size_t target_size, std::size_t capacity,
                     std::size_t max_draft, std::size_t entries) {
    return {identity_map(draft_size, target_size), shared_context(draft_size, capacity), max_draft,
            entries};
}

} // namespace specdec
