// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

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

} // namespace specdec
