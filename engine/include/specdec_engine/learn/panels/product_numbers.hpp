// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include <specdec_engine/kernel/isa.hpp>

namespace specdec::engine {

/// What the products of learning multiply. Sums are in F32, and so are weights and gradients.
enum class product_numbers : std::uint8_t {
    f32,
    bf16, ///< both factors are rounded first: fast where the CPU has BF16 dot products or tiles
};

[[nodiscard]] constexpr std::string_view name(product_numbers n) {
    return n == product_numbers::f32 ? "f32" : "bf16";
}

/// The faster ones with these instructions.
[[nodiscard]] constexpr product_numbers fastest_numbers(isa set) {
    return set >= isa::avx512_bf16 ? product_numbers::bf16 : product_numbers::f32;
}

/// How learning multiplies.
struct product_settings {
    product_numbers numbers = product_numbers::f32;
    isa instructions = isa::amx; ///< of the kernels; what the CPU lacks is not used
};

} // namespace specdec::engine
