// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <specdec/core/error.hpp>

namespace specdec::engine {

/// In which numbers keys and values are kept.
enum class cache_type : std::uint8_t {
    own,  ///< f32 beside weights in F32, otherwise bf16
    f32,  ///< products of attention in F32
    bf16, ///< queries and weights of positions rounded to BF16, too
    q8,   ///< 8 bits, in blocks of 32 with a float scale; products as those of bf16
};

[[nodiscard]] constexpr std::string_view name(cache_type type) {
    constexpr std::string_view names[] = {"auto", "f32", "bf16", "q8"};
    return names[static_cast<std::size_t>(type)];
}

/// The one of that name. Errors: specdec::error.
[[nodiscard]] inline cache_type cache_type_named(std::string_view asked) {
    using enum cache_type;
    for (const cache_type type : {own, f32, bf16, q8})
        if (name(type) == asked)
            return type;
    throw error("cache type", std::string(asked), "expected f32, bf16, q8 or auto");
}

/// Bytes of a key or value of so many numbers. `wide`: beside weights in F32.
[[nodiscard]] constexpr double cache_bytes(cache_type type, std::size_t numbers, bool wide) {
    const auto n = static_cast<double>(numbers);
    if (type == cache_type::q8)
        return n * (1.0 + 4.0 / 32.0);
    return n * (type == cache_type::f32 || (type == cache_type::own && wide) ? 4 : 2);
}

} // namespace specdec::engine
