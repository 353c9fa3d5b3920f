// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
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

/// A uniform random bit generator over consecutive counters: word for word what C++26 specifies as
/// std::philox4x64 ([rand.eng.philox]; the 10000th word of a default-constructed engine is
/// 3409172418970261260).
class philox4x64_engine {
public:
    using result_type = std::uint64_t;
    static constexpr result_type default_seed = 20111115;

    constexpr philox4x64_engine() = default;
    constexpr explicit philox4x64_engine(result_type seed) : key_{seed, 0} {}

    [[nodiscard]] static constexpr result_type min() { return 0; }
    [[nodiscard]] static constexpr result_type max() { return ~result_type{0}; }

    constexpr result_type operator()() {
        if (used_ == words_.size()) {
            words_ = philox4x64::block(key_, counter_);
            for (std::uint64_t& word : counter_)
                if (++word != 0)
                    break;
            used_ = 0;
        }
        return words_[used_++];
    }

    constexpr void discard(unsigned long long count) {
        for (; count > 0 && used_ < words_.size(); --count)
            ++used_;
        std::uint64_t carry = count / words_.size();
        for (std::uint64_t& word : counter_) {
            word += carry;
            carry = word < carry ? 1 : 0;
        }
        for (count %= words_.size(); count > 0; --count)
            (void)(*this)();
    }

    friend constexpr bool operator==(const philox4x64_engine&, const philox4x64_engine&) = default;

private:
    philox4x64::key_type key_{default_seed, 0};
    philox4x64::counter_type counter_{};
    philox4x64::counter_type words_{};
    std::size_t used_ = 4;
};

} // namespace specdec
