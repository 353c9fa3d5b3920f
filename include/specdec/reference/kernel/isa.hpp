// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

/// Which instructions the one hand-written kernel uses. Chosen when a model is made, so that one
/// generic build serves every CPU.
namespace specdec::reference {

/// In rising order: a CPU that has one has those before it.
enum class isa : std::uint8_t {
    portable,    ///< 4-lane vectors that every compiler target knows
    avx2,        ///< AVX2 and FMA
    avx512,      ///< AVX-512 F, BW, DQ, VL
    avx512_bf16, ///< the same with the BF16 dot product
};

[[nodiscard]] constexpr std::string_view name(isa set) {
    switch (set) {
    case isa::portable:
        return "portable";
    case isa::avx2:
        return "avx2";
    case isa::avx512:
        return "avx512";
    case isa::avx512_bf16:
        return "avx512_bf16";
    }
    return "";
}

/// The last one that this CPU (and its operating system) offers.
[[nodiscard]] inline isa best_isa() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return isa::portable;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return isa::avx2;
    return __builtin_cpu_supports("avx512bf16") ? isa::avx512_bf16 : isa::avx512;
#else
    return isa::portable;
#endif
}

} // namespace specdec::reference
