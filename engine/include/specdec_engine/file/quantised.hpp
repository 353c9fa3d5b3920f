// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::bit_cast
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <limits>
#include <span>
#include <string>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec_engine/file/k_quants.hpp>
#include <specdec_engine/file/tensor.hpp>
#include <specdec_engine/kernel/numbers.hpp>

/// From stored numbers to floats. GGUF's blocks of 32 values begin with F16 numbers, a scale d and
/// in some a minimum m; n is a whole number of 4, 5 or 8 bits:
///
///     Q4_0  d | 16 bytes                  d (n - 8)    value i: low half of byte i for i < 16,
///     Q4_1  d | m | 16 bytes              d n + m               high half of byte i - 16 from
///     there Q5_0  d | 32 bits | 16 bytes        d (n - 16)   as Q4_0; bit i of the 32 is value i's
///     fifth Q5_1  d | m | 32 bits | 16 bytes    d n + m Q8_0  d | 32 signed bytes           d n
///
/// Blocks of 256 values: file/k_quants.hpp.
namespace specdec::engine {

namespace detail {

/// Values of 4 bits, or of 5 where `fifth` is there.
inline void four_bits(const std::byte* packed, float scale, float shift, float* out,
                      std::uint32_t fifth = 0) {
    for (std::size_t i = 0; i < 16; ++i) {
        const auto both = std::to_integer<unsigned>(packed[i]);
        const unsigned low = (both & 15U) | (fifth >> i & 1U) << 4;
        const unsigned high = both >> 4 | (fifth >> (i + 16) & 1U) << 4;
        out[i] = scale * static_cast<float>(low) + shift;
        out[i + 16] = scale * static_cast<float>(high) + shift;
    }
}

inline std::uint32_t bits_at(const std::byte* at) {
    std::uint32_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
}

} // namespace detail

/// One block, block_values(type) numbers. Precondition: the type is quantised; `block` has
/// block_bytes(type) bytes.
inline void dequantise_block(dtype type, const std::byte* block, float* out) {
    const float d = half_at(block); // not of Q2_K, Q3_K and Q6_K
    switch (type) {
    case dtype::q4_0:
        detail::four_bits(block + 2, d, -8.0F * d, out);
        break;
    case dtype::q4_1:
        detail::four_bits(block + 4, d, half_at(block + 2), out);
        break;
    case dtype::q5_0:
        detail::four_bits(block + 6, d, -16.0F * d, out, detail::bits_at(block + 2));
        break;
    case dtype::q5_1:
        detail::four_bits(block + 8, d, half_at(block + 2), out, detail::bits_at(block + 4));
        break;
    case dtype::q8_0:
        for (std::size_t i = 0; i < 32; ++i)
            out[i] = d * static_cast<float>(std::to_integer<std::int8_t>(block[2 + i]));
        break;
    case dtype::q2_k:
        dequantise_q2_k(block, out);
        break;
    case dtype::q3_k:
        dequantise_q3_k(block, out);
        break;
    case dtype::q4_k:
    case dtype::q5_k:
        dequantise_q4_k(block, type == dtype::q5_k, out);
        break;
    case dtype::q6_k:
        dequantise_q6_k(block, out);
        break;
    case dtype::f32:
    case dtype::f16:
    case dtype::bf16:
    case dtype::other:
        SPECDEC_PRECONDITION(block_values(type) > 1);
    }
}

/// A row as it lies in the file. Precondition: the tensor's type is not dtype::other.
[[nodiscard]] inline std::span<const std::byte> row_bytes(const tensor& t, std::size_t row) {
    SPECDEC_PRECONDITION(row < t.rows());
    const std::size_t bytes = t.columns() / block_values(t.type) * block_bytes(t.type);
    return t.bytes.subspan(row * bytes, bytes);
}

/// Row `row` of a matrix (or a whole vector, row 0) as floats.
/// Precondition: the tensor's type is not dtype::other; out has t.columns() values.
inline void read_row(const tensor& t, std::size_t row, std::span<float> out) {
    SPECDEC_PRECONDITION(out.size() == t.columns() && row < t.rows());
    const std::size_t values = block_values(t.type), blocks = out.size() / values;
    const std::byte* from = row_bytes(t, row).data();
    switch (t.type) {
    case dtype::f32:
        std::memcpy(out.data(), from, out.size_bytes());
        break;
    case dtype::f16:
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = half_at(from + 2 * i);
        break;
    case dtype::bf16:
        for (std::size_t i = 0; i < out.size(); ++i) {
            bf16_bits bits;
            std::memcpy(&bits, from + 2 * i, sizeof bits);
            out[i] = widen(bits);
        }
        break;
    case dtype::q4_0:
    case dtype::q4_1:
    case dtype::q8_0:
    case dtype::q5_0:
    case dtype::q5_1:
    case dtype::q2_k:
    case dtype::q3_k:
    case dtype::q4_k:
    case dtype::q5_k:
    case dtype::q6_k:
    case dtype::other:
        for (std::size_t b = 0; b < blocks; ++b)
            dequantise_block(t.type, from + b * block_bytes(t.type), out.data() + values * b);
    }
}

/// The same of weights, which a forward pass can use: one NaN or infinity among them spreads to
/// every row of logits. Errors: specdec::error naming file and tensor for a number that is not
/// finite, or larger than `largest`, the most that `format` takes.
inline void read_weights(const tensor& t, std::size_t row, std::span<float> out,
                         float largest = std::numeric_limits<float>::max(),
                         const char* format = "F32") {
    read_row(t, row, out);
    const auto most = std::bit_cast<std::int32_t>(largest);
    std::int32_t strange = 0; // by whole numbers and without an end, so that the loop vectorises
    for (const float x : out)
        strange |= (std::bit_cast<std::int32_t>(x) & 0x7FFFFFFF) > most ? 1 : 0;
    if (strange != 0)
        throw error(t.source, "tensor " + t.name,
                    std::string("expected finite numbers") +
                        (largest < std::numeric_limits<float>::max()
                             ? std::string(", no larger than ") + format + " takes"
                             : "") +
                        ", found another in row " + std::to_string(row));
}

} // namespace specdec::engine
