// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/token_id.hpp>

namespace specdec {

/// The drafter's context when both models have one vocabulary: the committed target ids themselves.
/// An id that only the target has (its padding may be longer) is left out: no model is fed an id
/// outside its vocabulary. Models DraftContext. Complexity: O(1) a token. Allocates beyond the
/// reserved capacity only.
class shared_context {
public:
    shared_context(std::size_t draft_size, std::size_t capacity)
        : draft_size_(draft_size), capacity_(capacity) {
        ids_.reserve(capacity);
    }

    void start(std::span<const draft_id> prefix) {
        ids_.reserve(capacity_); // a copy has lost it
        ids_.assign(prefix.begin(), prefix.end());
        unchanged_ = 0;
    }

    void follow(std::span<const target_id> committed) {
        for (const target_id t : committed)
            if (t.index() < draft_size_)
                ids_.push_back(draft_id{t.value});
    }

    [[nodiscard]] std::size_t draft_size() const { return draft_size_; }

    [[nodiscard]] std::span<const draft_id> ids() const { return ids_; }
    [[nodiscard]] std::size_t unchanged() const { return unchanged_; }
    void mark() { unchanged_ = ids_.size(); }

private:
    std::size_t draft_size_, capacity_;
    std::vector<draft_id> ids_;
    std::size_t unchanged_ = 0;
};

} // namespace specdec
