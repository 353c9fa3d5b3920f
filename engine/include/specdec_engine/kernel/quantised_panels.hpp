// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n, std::max, std::min
#include <cmath>     // std::abs, std::nearbyint
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <span>

#include <Eigen/Core> // Eigen::half

#include <specdec/core/contract.hpp>
#include <specdec_engine/kernel/numbers.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp> // panel_rows
#include <specdec_engine/kernel/quantised_column.hpp>

/// Matrices in the numbers of a quantised file, Q8_0, Q4_0 or Q4_1, every one as it is there (see
/// specdec_engine/file/quantised.hpp), laid in another order: panels of 32 rows, which are blocks
/// of 32 values along the rows,
///
///     F16 scale[32]; Q4_1: F16 minimum[32]; then for each four k of all rows, 128 bytes,
///     Q8_0   byte[k / 4][row][k % 4]   the value + 128       8 times
///     Q4     byte[k / 4][row][k % 4]   value k < 16 in the low half, value k + 16 in the high
///                                      half                  4 times
///
/// so that a kernel reads a panel as one stream, and a register of four-byte groups holds rows
/// only: what integer dot products want, whose weights are unsigned.
namespace specdec::engine {

namespace detail {

/// Four F16 numbers.
inline void widen_halves(const std::byte* from, float* to) {
    using ints = line_part<4>::ints;
    using halves [[gnu::vector_size(8)]] = std::uint16_t;
    halves packed;
    std::memcpy(&packed, from, sizeof packed);
    const ints bits = __builtin_convertvector(packed, ints);
    const ints magnitude = bits & 0x7FFF;
    const ints sign = (bits & 0x8000) << 16;
    // The exponent's offset goes by a product, so that subnormal numbers come out right, too.
    const auto value = reinterpret_cast<line_part<4>::floats>(magnitude << 13) * 0x1p112F;
    const ints none = magnitude >= 0x7C00 ? magnitude << 13 | 0x7F800000 : ints{};
    const ints all = reinterpret_cast<ints>(value) | none | sign;
    std::memcpy(to, &all, sizeof all);
}

/// What a block adds to a column's 16 sums, in the order of every kernel: y += (d scale) dot, and
/// the minimum's share. `less` is what the dots hold too much.
template <bool Minima, std::size_t Lanes>
[[gnu::always_inline]] inline void add_block(const std::int32_t* dots, std::int32_t less,
                                             const float* scales, const float* minima,
                                             const q8_block& x, float* y) {
    using floats = typename line_part<Lanes>::floats;
    using ints = typename line_part<Lanes>::ints;
    for (std::size_t r = 0; r < panel_rows; r += Lanes) {
        ints dot;
        floats d, sum;
        std::memcpy(&dot, dots + r, sizeof dot);
        std::memcpy(&d, scales + r, sizeof d);
        std::memcpy(&sum, y + r, sizeof sum);
        dot -= less;
        floats part = __builtin_convertvector(dot, floats) * (d * x.scale);
        round_here(part);
        if constexpr (Minima) {
            floats m;
            std::memcpy(&m, minima + r, sizeof m);
            floats shift = m * x.scaled_sum;
            round_here(shift);
            part += shift;
        }
        sum += part;
        std::memcpy(y + r, &sum, sizeof sum);
    }
}

} // namespace detail

[[nodiscard]] constexpr bool is_quantised(dtype type) {
    return block_values(type) > 1;
}
/// Whether panels have the type as it is. Of the other quantised ones, Q8_0 is made.
[[nodiscard]] constexpr bool has_panels(dtype type) {
    return type == dtype::q8_0 || type == dtype::q4_0 || type == dtype::q4_1;
}

/// What is added to a number of the file to make it the unsigned one of the panels.
[[nodiscard]] constexpr std::int32_t quantised_offset(dtype type) {
    return type == dtype::q8_0 ? 128 : type == dtype::q4_0 ? 8 : 0;
}

/// Where things lie in a block of a panel, and how long it is.
struct quantised_block_layout {
    std::size_t minima; ///< behind the scales
    std::size_t numbers;
    std::size_t bytes;

    constexpr explicit quantised_block_layout(dtype type)
        : minima(panel_rows * sizeof(std::uint16_t)),
          numbers(minima * (type == dtype::q4_1 ? 2 : 1)),
          bytes(numbers + panel_rows * quantised_values / (type == dtype::q8_0 ? 1 : 2)) {}
};

/// The largest magnitude that Q8_0 takes: its scale is F16.
inline constexpr float greatest_q8_0 = 65504.0F * 127.0F;

/// One block of 32 numbers as a file's Q8_0, 34 bytes. Precondition: none is above greatest_q8_0.
inline void quantise_to_q8_0(const float* x, std::byte* out) {
    float top = 0.0F;
    for (std::size_t k = 0; k < quantised_values; ++k)
        top = std::max(top, std::abs(x[k]));
    const auto scale = static_cast<Eigen::half>(top / 127.0F);
    const auto bits = Eigen::numext::bit_cast<std::uint16_t>(scale);
    std::memcpy(out, &bits, sizeof bits);
    const auto step = static_cast<float>(scale);
    for (std::size_t k = 0; k < quantised_values; ++k) {
        const float n = step > 0.0F ? std::nearbyint(x[k] / step) : 0.0F;
        out[sizeof bits + k] = static_cast<std::byte>(
            static_cast<std::int8_t>(std::max(-127.0F, std::min(n, 127.0F))));
    }
}

/// A matrix [rows, columns] in such panels; what is padded is zero. Borrows memory of `footprint`
/// bytes that must be zero (and aligned to 64) to begin with.
class quantised_matrix {
public:
    quantised_matrix() = default;
    quantised_matrix(std::byte* memory, std::size_t rows, std::size_t columns, dtype type)
        : memory_(memory), rows_(rows), columns_(columns), type_(type) {
        SPECDEC_PRECONDITION(has_panels(type));
    }

    [[nodiscard]] static constexpr std::size_t footprint(std::size_t rows, std::size_t columns,
                                                         dtype type) {
        return blocks_of(rows) * blocks_of(columns) * quantised_block_layout(type).bytes;
    }

    [[nodiscard]] dtype type() const { return type_; }
    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    /// The length of an input column, in blocks.
    [[nodiscard]] std::size_t length() const { return blocks_of(columns_); }
    [[nodiscard]] std::size_t panels() const { return blocks_of(rows_); }
    [[nodiscard]] std::size_t bytes() const { return footprint(rows_, columns_, type_); }
    [[nodiscard]] const std::byte* panel(std::size_t i) const {
        return memory_ + i * length() * quantised_block_layout(type_).bytes;
    }
    [[nodiscard]] std::span<const std::byte> panel_bytes(std::size_t i) const {
        return {panel(i), length() * quantised_block_layout(type_).bytes};
    }

    /// Packs a row of a file, of this type: its blocks one behind the other. Rows of different
    /// panels may be written by different threads, here and below.
    void write_blocks(std::size_t row, std::span<const std::byte> blocks) {
        SPECDEC_PRECONDITION(row < rows_ && blocks.size() == length() * block_bytes(type_));
        for (std::size_t b = 0; b < length(); ++b)
            write_block(row, b, blocks.data() + b * block_bytes(type_));
    }
    /// Packs a row of numbers. Precondition: the type is Q8_0, no number is above greatest_q8_0.
    void write_row(std::size_t row, std::span<const float> values) {
        SPECDEC_PRECONDITION(row < rows_ && values.size() == columns_ && type_ == dtype::q8_0);
        for (std::size_t b = 0; b < length(); ++b) {
            float padded[quantised_values] = {};
            const std::span<const float> left = values.subspan(b * quantised_values);
            std::copy_n(left.data(), std::min(left.size(), quantised_values), padded);
            std::byte block[2 + quantised_values];
            quantise_to_q8_0(padded, block);
            write_block(row, b, block);
        }
    }
    /// Packs a row of another matrix of this type and length.
    void copy_row(std::size_t row, const quantised_matrix& from, std::size_t its_row) {
        SPECDEC_PRECONDITION(row < rows_ && its_row < from.rows_ && type_ == from.type_ &&
                             columns_ == from.columns_);
        const quantised_block_layout layout(type_);
        const std::size_t to_row = row % panel_rows, from_row = its_row % panel_rows;
        for (std::size_t b = 0; b < length(); ++b) {
            std::byte* const to = block_of(row, b);
            const std::byte* const at = from.block_of(its_row, b);
            for (std::size_t i = 0; i < layout.numbers; i += layout.minima)
                std::copy_n(at + i + 2 * from_row, 2, to + i + 2 * to_row);
            for (std::size_t i = layout.numbers; i < layout.bytes; i += 4 * panel_rows)
                std::copy_n(at + i + 4 * from_row, 4, to + i + 4 * to_row);
        }
    }
    /// Unpacks one row.
    void read_row(std::size_t row, std::span<float> values) const {
        SPECDEC_PRECONDITION(row < rows_ && values.size() == columns_);
        const quantised_block_layout layout(type_);
        const std::size_t at = row % panel_rows;
        for (std::size_t b = 0; b < length(); ++b) {
            const std::byte* const block = block_of(row, b);
            const float scale = half_at(block + 2 * at);
            const float shift = type_ == dtype::q4_1
                                    ? half_at(block + layout.minima + 2 * at)
                                    : -scale * static_cast<float>(quantised_offset(type_));
            const std::byte* const numbers = block + layout.numbers + 4 * at;
            const std::size_t first = b * quantised_values;
            for (std::size_t k = 0; k < std::min(quantised_values, columns_ - first); ++k) {
                const bool high = type_ != dtype::q8_0 && k >= 16;
                const std::size_t byte = high ? k - 16 : k;
                auto n = std::to_integer<unsigned>(numbers[byte / 4 * 4 * panel_rows + byte % 4]);
                if (type_ != dtype::q8_0)
                    n = high ? n >> 4 : n & 15U;
                values[first + k] = scale * static_cast<float>(n) + shift;
            }
        }
    }

private:
    [[nodiscard]] std::byte* block_of(std::size_t row, std::size_t b) const {
        return memory_ + (row / panel_rows * length() + b) * quantised_block_layout(type_).bytes;
    }
    void write_block(std::size_t row, std::size_t b, const std::byte* from) {
        const quantised_block_layout layout(type_);
        const std::size_t at = row % panel_rows;
        std::byte* const to = block_of(row, b);
        for (std::size_t i = 0; i < layout.numbers; i += layout.minima, from += 2)
            std::copy_n(from, 2, to + i + 2 * at);
        const auto flip = static_cast<std::byte>(type_ == dtype::q8_0 ? 0x80 : 0);
        for (std::size_t i = layout.numbers; i < layout.bytes; i += 4 * panel_rows)
            for (std::size_t k = 0; k < 4; ++k)
                to[i + 4 * at + k] = *from++ ^ flip;
    }

    std::byte* memory_ = nullptr;
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;
    dtype type_ = dtype::q8_0;
};

} // namespace specdec::engine
