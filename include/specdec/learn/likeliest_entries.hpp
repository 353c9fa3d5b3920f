// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/process/log_probabilities.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

namespace specdec {

/// Row i of some rows, as rows. Borrows them.
template <class Rows>
struct one_row {
    const Rows& rows;
    std::size_t i;
    [[nodiscard]] std::size_t size() const { return 1; }
    [[nodiscard]] std::size_t vocabulary() const { return rows.vocabulary(); }
    [[nodiscard]] auto operator[](std::size_t) const { return rows[i]; }
};

/// Appends the likeliest tokens of a row and their probabilities to a list, in the order of ids, as
/// losses read them. Complexity: O(n^2) for n tokens.
inline void append_likeliest(std::span<const token_log_probability> top,
                             std::vector<weighted_id<target_id>>& list) {
    const std::size_t first = list.size();
    for (const auto& [id, log_p] : top) {
        if (!id.valid())
            break;
        const auto p = static_cast<float>(builtin::exp(log_p));
        list.push_back({id, p});
        for (std::size_t k = list.size() - 1; k > first && id < list[k - 1].id; --k) {
            list[k] = list[k - 1];
            list[k - 1] = {id, p};
        }
    }
}

} // namespace specdec
