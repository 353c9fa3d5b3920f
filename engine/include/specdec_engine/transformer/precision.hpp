// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <specdec/core/error.hpp>

namespace specdec::engine {

/// How weights are stored and products computed.
enum class precision : std::uint8_t {
    f32,  ///< activations in full: for comparison with other engines
    bf16, ///< weights and activations rounded to BF16 before each product, sums in F32
    /// Weights as the file has them: quantised ones are multiplied by activations that are rounded
    /// to 8 bits in blocks of 32. Q8_0, Q4_0 and Q4_1 are kept; Q5_0, Q5_1 and K-quants become Q8_0
    /// as they are loaded. A file that has none is computed in its own numbers.
    native,
    q8,        ///< native, and weights that are not quantised become Q8_0 as they are loaded
    automatic, ///< the fastest for the file: native where it is quantised, otherwise bf16
};

[[nodiscard]] constexpr std::string_view name(precision p) {
    constexpr std::string_view names[] = {"f32", "bf16", "native", "q8", "auto"};
    return names[static_cast<std::size_t>(p)];
}

/// The one of that name. Errors: specdec::error.
[[nodiscard]] inline precision precision_named(std::string_view asked) {
    using enum precision;
    for (const precision p : {f32, bf16, native, q8, automatic})
        if (name(p) == asked)
            return p;
    throw error("precision", std::string(asked), "expected f32, bf16, native, q8 or auto");
}

} // namespace specdec::engine
