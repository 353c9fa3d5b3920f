// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/sampling/listing.hpp>

namespace specdec::testing {

/// A drafter that lists what it is told: its i-th list behind a sync is script[i]. It writes every
/// list into the same memory, as a model does. Models ListingDrafter.
class list_drafter {
public:
    using entries = std::vector<weighted_id<draft_id>>;

    list_drafter(std::size_t vocabulary, std::vector<entries> script)
        : vocabulary_(vocabulary), script_(std::move(script)), list_(vocabulary + 8) {}

    [[nodiscard]] std::size_t capacity() const { return 4096; }
    void sync(std::span<const draft_id>, std::size_t) { pushed.clear(); }
    listed_row<draft_id> list() {
        const entries& now = script_[pushed.size() % script_.size()];
        for (weighted_id<draft_id>& stale : list_)
            stale = {draft_id{0}, 7.0F};
        for (std::size_t k = 0; k < now.size(); ++k)
            list_[k] = now[k];
        return {{list_.data(), now.size()}, vocabulary_};
    }
    [[nodiscard]] law_version version() const { return 0; }
    void push(draft_id id) { pushed.push_back(id); }

    std::vector<draft_id> pushed; ///< since the last sync

private:
    std::size_t vocabulary_;
    std::vector<entries> script_;
    entries list_;
};

} // namespace specdec::testing
