// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// The first number n of [first, last) for which holds(n) is true, or `last` if there is none. A
/// binary search, for the layers that do not include <algorithm>. Pre: first <= last; if holds(n),
/// then holds(m) for every m > n. O(log n) calls of `holds`.
template <class Number, class Holds>
[[nodiscard]] constexpr Number first_where(Number first, Number last, const Holds& holds) {
    for (Number count = last - first; count > 0;) {
        const Number half = count / 2;
        if (holds(first + half)) {
            count = half;
        } else {
            first += half + 1;
            count -= half + 1;
        }
    }
    return first;
}

} // namespace specdec
