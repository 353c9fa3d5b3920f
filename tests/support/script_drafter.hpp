// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/drafting.hpp>

#include "ids.hpp"

namespace specdec::testing {

/// A drafter that says what it is told: its i-th row behind a sync has the largest logit at
/// script[i]. Remembers what it was given.
class script_drafter {
public:
    script_drafter(std::size_t vocabulary, std::vector<draft_id> script,
                   std::size_t capacity = 4096)
        : script_(std::move(script)), capacity_(capacity), row_(vocabulary) {}

    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    void sync(std::span<const draft_id> ids, std::size_t same) {
        context.assign(ids.begin(), ids.end());
        unchanged = same;
        pushed.clear();
        ++syncs;
    }
    logits_row<draft_id> row() {
        ++rows;
        for (float& logit : row_)
            logit = forbid_others ? -std::numeric_limits<float>::infinity() : 0.0F;
        row_[script_[pushed.size() % script_.size()].index()] = 2.0F;
        return {row_};
    }
    [[nodiscard]] law_version version() const { return 0; }
    void push(draft_id id) { pushed.push_back(id); }

    bool forbid_others = false;
    std::vector<draft_id> context; ///< of the last sync
    std::vector<draft_id> pushed;  ///< since then
    std::size_t unchanged = 0;
    std::size_t syncs = 0;
    std::size_t rows = 0;

private:
    std::vector<draft_id> script_;
    std::size_t capacity_;
    std::vector<float> row_;
};

/// The tokens of a draft.
template <class Draft>
std::vector<target_id> tokens_of(const Draft& draft) {
    std::vector<target_id> tokens;
    for (const auto& x : draft.proposals)
        tokens.push_back(x.token());
    return tokens;
}

} // namespace specdec::testing
