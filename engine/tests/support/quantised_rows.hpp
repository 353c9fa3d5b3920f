// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <range/v3/algorithm/minmax_element.hpp>
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/zip.hpp>

#include <specdec_engine/kernel/numbers.hpp>

/// Rows as a quantised file has them, by the formulas of the formats, without the library.
namespace toy {

inline void put_half(std::vector<std::byte>& out, float value) {
    const auto bits = Eigen::numext::bit_cast<std::uint16_t>(static_cast<Eigen::half>(value));
    out.push_back(static_cast<std::byte>(bits & 0xFF));
    out.push_back(static_cast<std::byte>(bits >> 8));
}

/// 32 whole numbers as they lie in a block: signed bytes, or halves of bytes.
inline void put_numbers(std::vector<std::byte>& out, specdec::engine::dtype type,
                        const int* numbers) {
    if (type == specdec::engine::dtype::q8_0)
        for (std::size_t i = 0; i < 32; ++i)
            out.push_back(static_cast<std::byte>(static_cast<signed char>(numbers[i])));
    else
        for (std::size_t i = 0; i < 16; ++i)
            out.push_back(static_cast<std::byte>(numbers[i] | numbers[i + 16] << 4));
}

/// A row of random blocks, extremes among them.
template <class Random>
std::vector<std::byte> quantised_row(specdec::engine::dtype type, std::size_t columns,
                                     Random& random) {
    using specdec::engine::dtype;
    std::vector<std::byte> out;
    for (std::size_t b = 0; b < columns / 32; ++b) {
        put_half(out, std::ldexp(static_cast<float>(random() % 2048) - 1024.0F, -12));
        if (type == dtype::q4_1)
            put_half(out, std::ldexp(static_cast<float>(random() % 2048) - 1024.0F, -9));
        int numbers[32];
        const int kind = static_cast<int>(random() / 7 % 4);
        for (int& n : numbers) {
            const int any = static_cast<int>(random() / 7 % 256);
            const int byte = kind == 0 ? 255 : kind == 1 ? 0 : any;
            n = type == dtype::q8_0 ? byte - 128 : byte % 16;
        }
        put_numbers(out, type, numbers);
    }
    return out;
}

/// A row of blocks of random bytes, with factors (F16) that stand at these places of a block.
template <class Random>
std::vector<std::byte> random_blocks(specdec::engine::dtype type, std::size_t columns,
                                     const std::vector<std::size_t>& factors, Random& random) {
    std::vector<std::byte> out;
    for (std::size_t b = 0; b < columns / block_values(type); ++b) {
        const std::size_t begin = out.size();
        for (std::size_t i = 0; i < block_bytes(type); ++i)
            out.push_back(static_cast<std::byte>(random() / 7 % 256));
        for (const std::size_t at : factors) {
            std::vector<std::byte> factor;
            put_half(factor, std::ldexp(static_cast<float>(random() % 64) - 32.0F, -16));
            std::copy(factor.begin(), factor.end(),
                      out.begin() + static_cast<std::ptrdiff_t>(begin + at));
        }
    }
    return out;
}

/// Numbers in blocks of a type, as near as its steps are.
inline std::vector<std::byte> quantised_numbers(specdec::engine::dtype type,
                                                std::span<const float> values) {
    using specdec::engine::dtype;
    std::vector<std::byte> out;
    for (const auto block : values | ranges::views::chunk(32)) {
        const auto [low, high] = ranges::minmax_element(block);
        const float most = std::max(-*low, *high);
        const float step = type == dtype::q4_1   ? (*high - *low) / 15.0F
                           : type == dtype::q4_0 ? most / 7.0F
                                                 : most / 127.0F;
        put_half(out, step);
        const float d = static_cast<float>(static_cast<Eigen::half>(step));
        const float shift = type == dtype::q4_1 ? *low : type == dtype::q4_0 ? -8.0F * d : 0.0F;
        if (type == dtype::q4_1)
            put_half(out, shift);
        const int least = type == dtype::q8_0 ? -127 : 0, greatest = type == dtype::q8_0 ? 127 : 15;
        int numbers[32];
        for (auto [number, x] : ranges::views::zip(numbers, block))
            number = d == 0.0F ? 0
                               : std::clamp(static_cast<int>(std::lround((x - shift) / d)), least,
                                            greatest);
        put_numbers(out, type, numbers);
    }
    return out;
}

} // namespace toy
