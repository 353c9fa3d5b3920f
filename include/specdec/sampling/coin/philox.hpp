// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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
            const wide a = multiply(0xD2E7470EE14C6C93, x[0]);
            const wide b = multiply(0xCA5A826395121157, x[2]);
            x = {b.high ^ x[1] ^ key[0], b.low, a.high ^ x[3] ^ key[1], a.low};
            key[0] += 0x9E3779B97F4A7C15;
            key[1] += 0xBB67AE8584CAA73B;
        }
        return x;
    }

private:
    struct wide {
        std::uint64_t high, low;
    };

    [[nodiscard]] static constexpr wide multiply(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
        __extension__ using uint128 = unsigned __int128;
        const uint128 product = static_cast<uint128>(a) * b;
        return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
        constexpr std::uint64_t half = 0xFFFFFFFF;
        const std::uint64_t ll = (a & half) * (b & half), lh = (a & half) * (b >> 32);
        const std::uint64_t hl = (a >> 32) * (b & half), hh = (a >> 32) * (b >> 32);
        const std::uint64_t middle = (ll >> 32) + (lh & half) + hl;
        return {hh + (lh >> 32) + (middle >> 32), a * b};
#endif
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
