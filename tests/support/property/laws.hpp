// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <ostream>
#include <vector>

#include <rapidcheck.h>

#include "support/property/any.hpp"
#include "support/toys/weighted_rows.hpp"

namespace specdec {

inline std::ostream& operator<<(std::ostream& out, const weighted_rows& rows) {
    return out << rows.text();
}

/// The laws of a toy model: at most so many rows of `tokens` weights from 0 to 9. They shrink to
/// one row behind every context, and to even weights.
inline rc::Gen<weighted_rows> laws_of(std::size_t tokens, std::size_t rows = 3) {
    // 1 first, for shrinking goes to the front: zeros are a case of their own.
    const auto weight = any_of(std::vector<unsigned>{1, 2, 3, 4, 5, 6, 9, 0});
    const auto row = rc::gen::container<std::vector<unsigned>>(tokens, weight);
    return rc::gen::map(rc::gen::pair(row, up_to(rows - 1, row)), [](const auto& drawn) {
        weighted_rows all{{drawn.first}};
        all.rows.insert(all.rows.end(), drawn.second.begin(), drawn.second.end());
        return all;
    });
}

} // namespace specdec
