// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>

#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/numbers.hpp>
#include <specdec_engine/kernel/panels.hpp>
#include <specdec_engine/kernel/quantised_kernel.hpp>

/// In which numbers a model is kept and multiplied: float, bf16_bits, or `quantised`, where every
/// matrix is in the Q8_0, Q4_0 or Q4_1 of its file and inputs are whole numbers in blocks.
namespace specdec::engine {

struct quantised {};

template <class Format>
concept NumberFormat = PanelValue<Format> || std::same_as<Format, quantised>;

/// What a format is made of. Types of matrices matter to `quantised` only.
template <NumberFormat Format>
struct format_parts {
    using matrix = panel_matrix<Format>;
    using unit = Format; ///< of the memory that matrices take
    using kernels = panel_kernels<Format>;
    using input = Format;  ///< what a column that is multiplied is made of
    using stored = Format; ///< what columns are written in, to be made inputs

    [[nodiscard]] static kernels kernels_for(isa set) { return panel_kernels_for<Format>(set); }
    [[nodiscard]] static std::size_t footprint(std::size_t rows, std::size_t columns, dtype) {
        return matrix::footprint(rows, columns);
    }
    [[nodiscard]] static matrix place(unit* memory, std::size_t rows, std::size_t columns, dtype) {
        return {memory, rows, columns};
    }
};

template <>
struct format_parts<quantised> {
    using matrix = quantised_matrix;
    using unit = std::byte;
    using kernels = quantised_kernels;
    using input = q8_block;
    using stored = float;

    [[nodiscard]] static kernels kernels_for(isa set) { return quantised_kernels_for(set); }
    [[nodiscard]] static std::size_t footprint(std::size_t rows, std::size_t columns, dtype type) {
        return matrix::footprint(rows, columns, type);
    }
    [[nodiscard]] static matrix place(unit* memory, std::size_t rows, std::size_t columns,
                                      dtype type) {
        return {memory, rows, columns, type};
    }
};

} // namespace specdec::engine
