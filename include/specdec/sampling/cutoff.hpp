// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/sampling/row_kernels.hpp>

namespace specdec {

/// A set {ids with logit >= `logit`}: how many they are and their weight.
struct cutoff {
    float logit = 0;
    std::size_t count = 0;
    double mass = 0;
};

/// The highest logit whose set holds at least `count` ids and at least `mass` of the weight; the lowest
/// logit not below `floor` when none does. Equal logits are in one set.
/// A radix search on the order-preserving bits of the logits: 256 bins a pass, at most 4 passes over
/// the row. Allocates nothing.
/// Pre: floor and maximum are finite, maximum is the largest value of the row, floor <= maximum.
inline cutoff find_cutoff(std::span<const float> row, row_kernels::exponent e, float floor,
                          float maximum, std::size_t count, double mass) {
    const auto key_of = [](float value) { // ascends with the value; -0 and +0 are one key
        const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
        return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
    };
    const auto value_of = [](std::uint32_t key) {
        return std::bit_cast<float>((key & 0x80000000U) != 0 ? key & 0x7FFFFFFFU : ~key);
    };

    std::uint32_t high = key_of(maximum), low = key_of(floor);
    cutoff above; // everything above `high`
    for (;;) {
        const int width = static_cast<int>(std::bit_width(high - low));
        const int shift = width > 8 ? width - 8 : 0;
        struct bin {
            std::size_t count = 0;
            double mass = 0;
        } bins[257];
        constexpr std::size_t chunk = 256;
        float weights[chunk];
        for (std::size_t first = 0; first < row.size(); first += chunk) {
            const std::size_t n = row.size() - first < chunk ? row.size() - first : chunk;
            row_kernels::best().weigh(&row[first], weights, n, e);
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint32_t key = key_of(row[first + i]);
                if (row[first + i] >= floor && key >= low && key <= high) {
                    bin& b = bins[(high - key) >> shift];
                    ++b.count;
                    b.mass += static_cast<double>(weights[i]);
                }
            }
        }
        const std::uint32_t bin_count = ((high - low) >> shift) + 1;
        std::uint32_t b = 0;
        for (; b < bin_count; ++b) {
            if (above.count + bins[b].count >= count && above.mass + bins[b].mass >= mass)
                break;
            above.count += bins[b].count;
            above.mass += bins[b].mass;
        }
        if (b == bin_count)
            return {value_of(low), above.count, above.mass};
        high -= b << shift;
        if (shift == 0)
            return {value_of(high), above.count + bins[b].count, above.mass + bins[b].mass};
        const std::uint32_t rest = (1U << shift) - 1;
        low = high - low > rest ? high - rest : low;
    }
}

} // namespace specdec
