// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>

namespace specdec {

/// Which nodes of a tree each node attends to: mask[i * n + j] = 1 if j is node i or one of its
/// ancestors, else 0, as attention kernels want it (in front of it stands the context, to which
/// all attend). Any number type. Complexity: O(n^2) for n nodes. Errors: specdec::error for parents
/// that are no earlier nodes, and where mask has not n * n places.
template <class Number>
void fill_ancestor_mask(std::span<const std::size_t> parents, std::span<Number> mask) {
    const std::size_t n = parents.size();
    require_parents(n, parents, 0, "ancestor mask");
    if (mask.size() != n * n)
        fail("ancestor mask", "mask",
             "expected " + std::to_string(n * n) + " places, found " + std::to_string(mask.size()));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            mask[i * n + j] = parents[i] == tree_root ? Number(0) : mask[parents[i] * n + j];
        mask[i * n + i] = Number(1);
    }
}

} // namespace specdec
