// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace specdec::reference {

/// How weights are stored and products computed.
enum class precision : std::uint8_t {
    f32,  ///< activations in full: for comparison with other engines
    bf16, ///< weights and activations rounded to BF16 before each product, sums in F32: fast
};

[[nodiscard]] constexpr std::string_view name(precision p) {
    return p == precision::f32 ? "f32" : "bf16";
}

} // namespace specdec::reference
