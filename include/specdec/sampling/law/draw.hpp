// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/row_kernels.hpp>

namespace specdec {

/// The id of the largest logit, the lowest id among equals; NaN is never chosen; no id (invalid)
/// when nothing is above -infinity. Complexity: one read. Allocates nothing.
template <class Id>
[[nodiscard]] Id argmax(logits_row<Id> row) {
    constexpr std::size_t chunk = 1024;
    float largest = -row_kernels::infinity;
    std::size_t i = 0; // the first chunk that holds it
    for (std::size_t first = 0; first < row.size(); first += chunk) {
        const std::size_t n = row.size() - first < chunk ? row.size() - first : chunk;
        const float maximum = row_kernels::best().maximum(&row.values[first], n);
        if (maximum > largest) {
            largest = maximum;
            i = first;
        }
    }
    if (!(largest > -row_kernels::infinity))
        return Id{};
    while (row.values[i] != largest)
        ++i;
    return id_at<Id>(i);
}

/// The ids of the largest logits, largest first, lower ids first among equals, into `ids`; returns
/// how many there are: ids.size(), or fewer when fewer logits are above -infinity. NaN is never
/// chosen. Complexity: about one read for few ids (chunks without a candidate are only compared),
/// and at most O(V * ids.size()). Allocates nothing.
template <class Id>
std::size_t top_ids(logits_row<Id> row, std::span<Id> ids) {
    constexpr std::size_t chunk = 64;
    if (ids.empty())
        return 0;
    const auto value = [&](Id id) { return row.values[id.index()]; };
    std::size_t count = 0;
    float least = -row_kernels::infinity; // what a candidate must exceed
    for (std::size_t first = 0; first < row.size(); first += chunk) {
        const std::size_t n = row.size() - first < chunk ? row.size() - first : chunk;
        if (!(row_kernels::best().maximum(&row.values[first], n) > least))
            continue;
        for (std::size_t i = first; i < first + n; ++i) {
            if (!(row.values[i] > least))
                continue;
            std::size_t place = count < ids.size() ? count++ : count - 1;
            for (; place > 0 && row.values[i] > value(ids[place - 1]); --place)
                ids[place] = ids[place - 1];
            ids[place] = id_at<Id>(i);
            if (count == ids.size())
                least = value(ids[count - 1]);
        }
    }
    return count;
}

} // namespace specdec
