// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "support/pair/model_flags.hpp"
#include <specdec/speculation/tree/tree_drafts.hpp>

namespace specdec::examples {

/// Says how many nodes the engines have to score at the same time.
inline void tell_nodes(model_flags& models, const std::optional<tree_drafts>& tree) {
    if (!tree)
        return;
    for (const float temperature : {0.0F, 1.0F}) {
        const tree_settings s = any_tree_shape(*tree, temperature).settings();
        models.tree_nodes = std::max(models.tree_nodes, s.max_nodes);
        models.drafted_nodes = std::max({models.drafted_nodes, s.max_nodes, s.max_drafted});
    }
}

} // namespace specdec::examples
