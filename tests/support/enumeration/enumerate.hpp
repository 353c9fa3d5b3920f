// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// Calls run(coin) once for every sequence of outcomes that has probability. C: enumerating_coin or
/// interval_coin.
template <class C, class F>
void enumerate(F&& run) {
    C coin;
    do {
        coin.begin();
        run(coin);
    } while (coin.advance());
}

/// Half the sum of |a - b| over the keys of both: 0 for equal laws, 1 for disjoint ones. For any
/// two maps from outcome to probability of one type.
template <class Map>
[[nodiscard]] double total_variation(const Map& a, const Map& b) {
    double sum = 0;
    for (const auto& [key, pa] : a) {
        const auto found = b.find(key);
        const double difference = found == b.end() ? pa : pa - found->second;
        sum += difference < 0 ? -difference : difference;
    }
    for (const auto& [key, pb] : b)
        if (a.find(key) == a.end())
            sum += pb < 0 ? -pb : pb;
    return sum / 2;
}

} // namespace specdec
