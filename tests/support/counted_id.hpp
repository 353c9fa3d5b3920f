// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace specdec::testing {

/// A token id whose comparisons are counted.
struct counted_id {
    std::int32_t value = 0;

    friend bool operator==(const counted_id& a, const counted_id& b) {
        ++compared;
        return a.value == b.value;
    }
    static inline std::size_t compared = 0;
};

/// How many comparisons the call makes.
template <class Call>
std::size_t comparisons_of(const Call& call) {
    const std::size_t before = counted_id::compared;
    call();
    return counted_id::compared - before;
}

} // namespace specdec::testing
