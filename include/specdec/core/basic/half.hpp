// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::bit_cast
#include <cstdint>

/// The 16-bit numbers in which engines keep logits. The library only widens them to float. Their
/// layout is std::uint16_t's, so a pointer to an engine's bits may be reinterpret_cast to them.
namespace specdec {

/// IEEE 754 binary16: 5 bits of exponent, 10 of mantissa.
struct float16 {
    std::uint16_t bits = 0;

    explicit constexpr operator float() const {
        const std::uint32_t sign = (bits & 0x8000U) << 16;
        const std::uint32_t rest = bits & 0x7FFFU;
        if (rest < 0x0400) { // subnormal
            const float value = static_cast<float>(rest) * 0x1p-24F;
            return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
        }
        const std::uint32_t exponent = rest < 0x7C00 ? 112U << 23 : 224U << 23; // or not finite
        return std::bit_cast<float>(sign | ((rest << 13) + exponent));
    }
};

/// The upper half of a float.
struct bfloat16 {
    std::uint16_t bits = 0;

    explicit constexpr operator float() const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
};

} // namespace specdec
