// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::bit_cast
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <string_view>

#include <Eigen/Core> // Eigen::half

/// The number formats a checkpoint may store. Rows of the quantised ones come in blocks of 32
/// values, or of 256 (K).
namespace specdec::engine {

enum class dtype : std::uint8_t {
    f32,
    f16,
    bf16,
    q4_0,  ///< 32 x 4 bits, one f16 scale d:            d (n - 8)
    q4_1,  ///< 32 x 4 bits, f16 scale d and minimum m:  d n + m
    q8_0,  ///< 32 x 8 bits, one f16 scale d:            d n
    q5_0,  ///< 32 x 5 bits, one f16 scale d:            d (n - 16)
    q5_1,  ///< 32 x 5 bits, f16 scale d and minimum m:  d n + m
    q2_k,  ///< 16 x 16 values of 2 bits: scales and minima of 4 bits, an f16 factor of each
    q3_k,  ///< 16 x 16 values of 3 bits: scales of 6 bits, an f16 factor
    q4_k,  ///< 8 x 32 values of 4 bits: scales and minima of 6 bits, an f16 factor of each
    q5_k,  ///< 8 x 32 values of 5 bits: as Q4_K
    q6_k,  ///< 16 x 16 values of 6 bits: scales of 8 bits, an f16 factor
    other, ///< a format of the file that the engine does not read
};

[[nodiscard]] constexpr std::string_view name(dtype type) {
    constexpr std::string_view names[] = {"F32",  "F16",  "BF16", "Q4_0", "Q4_1", "Q8_0", "Q5_0",
                                          "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "other"};
    return names[static_cast<std::size_t>(type)];
}
/// The one that files call so.
[[nodiscard]] constexpr dtype dtype_named(std::string_view asked) {
    using enum dtype;
    for (const dtype type :
         {f32, f16, bf16, q4_0, q4_1, q8_0, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k})
        if (name(type) == asked)
            return type;
    return other;
}

/// Values that are stored together: rows are whole blocks long.
[[nodiscard]] constexpr std::size_t block_values(dtype type) {
    constexpr std::size_t values[] = {1, 1, 1, 32, 32, 32, 32, 32, 256, 256, 256, 256, 256, 1};
    return values[static_cast<std::size_t>(type)];
}

/// Bytes of one block; 0 for dtype::other.
[[nodiscard]] constexpr std::size_t block_bytes(dtype type) {
    constexpr std::size_t bytes[] = {4,
                                     2,
                                     2,
                                     2 + 16,
                                     4 + 16,
                                     2 + 32,
                                     2 + 4 + 16,
                                     4 + 4 + 16,
                                     16 + 64 + 4,
                                     32 + 64 + 12 + 2,
                                     4 + 12 + 128,
                                     4 + 12 + 32 + 128,
                                     128 + 64 + 16 + 2,
                                     0};
    return bytes[static_cast<std::size_t>(type)];
}

/// The bits of a BF16 number: the upper half of a float's.
using bf16_bits = std::uint16_t;

[[nodiscard]] constexpr float widen(bf16_bits value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}
[[nodiscard]] constexpr float widen(float value) {
    return value;
}

/// To the nearest BF16, ties to even; a NaN stays a NaN. No branch, so that loops vectorise.
[[nodiscard]] constexpr bf16_bits round_to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
    const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    return static_cast<bf16_bits>((is_nan ? (bits | 0x400000U) : rounded) >> 16);
}

/// The largest float that is finite in BF16.
inline constexpr float largest_in_bf16 = std::bit_cast<float>(0x7F7F7FFFU);

[[nodiscard]] inline float widen_half(std::uint16_t bits) {
    return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits));
}
/// The F16 number that lies there, aligned or not.
[[nodiscard]] inline float half_at(const std::byte* at) {
    std::uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return widen_half(bits);
}

} // namespace specdec::engine
