// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/row_kernels.hpp>

namespace specdec {

/// The id of the largest logit, the lowest id among equals; no id (invalid) when nothing is above
/// -infinity. Errors: specdec::error for a row that holds NaN or +infinity. Complexity: one read.
/// Allocates nothing.
template <class Id>
[[nodiscard]] Id argmax(logits_row<Id> row) {
    constexpr std::size_t chunk = 1024;
    constexpr std::size_t at_once = 16;
    float maxima[at_once], largest = -row_kernels::infinity;
    std::size_t i = 0; // the first chunk that holds it
    bool numbers = true;
    for (std::size_t first = 0; first < row.size(); first += at_once * chunk) {
        const std::size_t left = row.size() - first;
        const std::size_t n = left < at_once * chunk ? left : at_once * chunk;
        numbers = row_kernels::best().block_maxima(&row.values[first], n, chunk, maxima) && numbers;
        for (std::size_t c = 0; c * chunk < n; ++c)
            if (maxima[c] > largest) {
                largest = maxima[c];
                i = first + c * chunk;
            }
    }
    require_logits(numbers && largest < row_kernels::infinity, side_of<Id>());
    if (!(largest > -row_kernels::infinity))
        return Id{};
    while (row.values[i] != largest)
        ++i;
    return id_at<Id>(i);
}

namespace detail {

/// As top_ids. numbers: made false where the row holds NaN.
template <class Id>
std::size_t find_top_ids(logits_row<Id> row, std::span<Id> ids, bool& numbers) {
    constexpr std::size_t chunk = 64;
    constexpr std::size_t at_once = 16;
    if (ids.empty())
        return 0;
    const auto value = [&](Id id) { return row.values[id.index()]; };
    std::size_t count = 0;
    float maxima[at_once], least = -row_kernels::infinity; // what a candidate must exceed
    for (std::size_t first = 0; first < row.size(); first += chunk) {
        const std::size_t left = row.size() - first, c = first / chunk % at_once;
        if (c == 0)
            numbers = row_kernels::best().block_maxima(
                          &row.values[first], left < at_once * chunk ? left : at_once * chunk,
                          chunk, maxima) &&
                      numbers;
        if (!(maxima[c] > least))
            continue;
        for (std::size_t i = first; i < first + (left < chunk ? left : chunk); ++i) {
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

} // namespace detail

/// The ids of the largest logits, largest first, lower ids first among equals, into `ids`; returns
/// how many there are: ids.size(), or fewer when fewer logits are above -infinity. NaN is never
/// chosen. Complexity: about one read for few ids (chunks without a candidate are only compared),
/// and at most O(V * ids.size()). Allocates nothing.
template <class Id>
std::size_t top_ids(logits_row<Id> row, std::span<Id> ids) {
    bool numbers = true;
    return detail::find_top_ids(row, ids, numbers);
}

/// The same where these ids are to be drawn. Errors: as argmax, if any id is asked for.
template <class Id>
std::size_t likeliest_ids(logits_row<Id> row, std::span<Id> ids) {
    bool numbers = true;
    const std::size_t count = detail::find_top_ids(row, ids, numbers);
    require_logits(numbers && (count == 0 || row.values[ids[0].index()] < row_kernels::infinity),
                   side_of<Id>());
    return count;
}

} // namespace specdec
