// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// The first number of [first, last) for which `holds(n)` is true, `last` where it is for none: a
/// binary search, for the layers that do not include <algorithm>. Pre: first <= last; where it
/// holds it holds for all numbers behind. O(log n) calls of `holds`.
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
