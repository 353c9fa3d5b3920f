// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include <specdec/core/basic/builtins.hpp>

namespace specdec {

/// Philox4x64-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel Random
/// Numbers: As Easy as 1, 2, 3" (SC 2011): a keyed bijection of 256-bit counters whose outputs are
/// independent uniform words. Without state, so any draw can be made at any time in any order.
class philox4x64 {
public:
    using key_type = std::array<std::uint64_t, 2>;
    using counter_type = std::array<std::uint64_t, 4>;

    /// The block of four words that belongs to (key, counter); as Random123's philox4x64_R(10,
    /// ...).
    [[nodiscard]] static constexpr counter_type block(key_type key, counter_type x) {
        for (int round = 0; round < 10; ++round) {
            const builtin::wide a = builtin::multiply(0xD2E7470EE14C6C93, x[0]);
            const builtin::wide b = builtin::multiply(0xCA5A826395121157, x[2]);
            x = {b.high ^ x[1] ^ key[0], b.low, a.high ^ x[3] ^ key[1], a.low};
            key[0] += 0x9E3779B97F4A7C15;
            key[1] += 0xBB67AE8584CAA73B;
        }
        return x;
    }
};

} // namespace specdec
