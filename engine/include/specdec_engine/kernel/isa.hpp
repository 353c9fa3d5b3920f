// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h> // SYS_arch_prctl
#include <unistd.h>      // syscall
#endif
#endif

/// Which instructions the hand-written kernels use. Chosen when a model is made, so that one
/// generic build serves every CPU.
namespace specdec::engine {

/// In rising order: a CPU that has one has those before it, but for AVX-VNNI (see usable).
enum class isa : std::uint8_t {
    portable,    ///< 4-lane vectors that every compiler target knows
    avx2,        ///< AVX2, FMA and F16C
    avx_vnni,    ///< the same with the integer dot product of 256 bits
    avx512,      ///< AVX-512 F, BW, DQ, VL
    avx512_vnni, ///< the same with the integer dot product
    avx512_bf16, ///< the same with the BF16 dot product, too
    amx,         ///< the same with tiles of BF16, too
};

[[nodiscard]] constexpr std::string_view name(isa set) {
    constexpr std::string_view names[] = {"portable",    "avx2",        "avx_vnni", "avx512",
                                          "avx512_vnni", "avx512_bf16", "amx"};
    return names[static_cast<std::size_t>(set)];
}

namespace detail {

#if defined(__x86_64__)
/// What not all compilers' __builtin_cpu_supports knows. Asked once: slow in virtual machines.
struct cpu_leaves {
    bool f16c = false, avx_vnni = false, tiles = false;

    cpu_leaves() {
        unsigned a = 0, b = 0, c = 0, d = 0;
        f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29 & 1U) != 0;
        const bool switched = (c >> 27 & 1U) != 0; // the system saves registers as XCR0 says
        avx_vnni = __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1U) != 0;
        constexpr unsigned kinds = 1U << 22 | 1U << 24; // of BF16, tiles
        tiles = switched && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kinds) == kinds &&
                tiles_permitted();
    }
    /// Asks the system for them: it saves their registers for processes that asked.
    static bool tiles_permitted() {
#if defined(__linux__)
        unsigned low = 0, high = 0;
        asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        constexpr unsigned saved = 3U << 17;        // the tiles' configuration and data
        constexpr long request = 0x1023, data = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
        return (low & saved) == saved && ::syscall(SYS_arch_prctl, request, data) == 0;
#else
        return false;
#endif
    }
    static const cpu_leaves& here() {
        static const cpu_leaves once;
        return once;
    }
};
#endif

} // namespace detail

/// The last one, up to `most`, that this CPU (and its operating system) offers.
[[nodiscard]] inline isa usable(isa most) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !detail::cpu_leaves::here().f16c)
        return isa::portable;
    const isa narrow =
        most >= isa::avx_vnni && detail::cpu_leaves::here().avx_vnni ? isa::avx_vnni : isa::avx2;
    if (most < isa::avx512 || !__builtin_cpu_supports("avx512f") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return std::min(most, narrow);
    if (!__builtin_cpu_supports("avx512vnni"))
        return isa::avx512;
    if (!__builtin_cpu_supports("avx512bf16"))
        return std::min(most, isa::avx512_vnni);
    if (most < isa::amx || !detail::cpu_leaves::here().tiles)
        return std::min(most, isa::avx512_bf16);
    return isa::amx;
#else
    static_cast<void>(most);
    return isa::portable;
#endif
}

/// Whether one stream of reads is slower than memory allows, so that kernels have to fetch what
/// comes next. Measured: Intel's processors (Emerald Rapids: five BF16 positions took 1.36 times as
/// long without), not AMD's (Zen 3 to 5).
[[nodiscard]] inline bool streams_need_fetching() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

[[nodiscard]] inline isa best_isa() {
    return usable(isa::amx);
}

} // namespace specdec::engine
