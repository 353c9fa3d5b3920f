// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// A small copyable view of an id_map, to be the map of a token bridge. A derived class adds which
/// ids the bridge may draw: allows(d), and prepare(row, out). Borrows the id_map.
class id_map_view {
public:
    explicit id_map_view(const id_map& map) : map_(&map) {}
    explicit id_map_view(const id_map&& gone_before_use) = delete;

    [[nodiscard]] std::size_t draft_size() const { return map_->draft_size(); }
    [[nodiscard]] std::size_t target_size() const { return map_->target_size(); }
    [[nodiscard]] std::size_t shared() const { return map_->shared(); }
    [[nodiscard]] target_id to_target(draft_id d) const { return map_->to_target(d); }
    [[nodiscard]] draft_id to_draft(target_id t) const { return map_->to_draft(t); }
    [[nodiscard]] draft_id next_duplicate(draft_id d) const { return map_->next_duplicate(d); }

protected:
    [[nodiscard]] const id_map& map() const { return *map_; }

private:
    const id_map* map_;
};

} // namespace specdec
