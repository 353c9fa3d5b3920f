// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

/// All that the standard-library layers ask of a compiler beyond C++20: GCC's and Clang's builtins,
/// attributes and vectors, each beside a branch in plain C++. No other header of these layers has
/// one (tests/architecture/check_includes.py). A compiler that is neither, and any compiler under
/// -DSPECDEC_PORTABLE_ONLY, takes the plain branches; results are then those of the `portable`
/// kernels, bit for bit on one machine. All of a program is compiled with it, or all without.
///
/// Functions of <cmath> and <cstring> and numbers of <limits> are called as builtins for they are
/// the same and the headers would make the umbrella a quarter longer.
#if (defined __GNUC__ || defined __clang__) && !defined SPECDEC_PORTABLE_ONLY
#define SPECDEC_GNU_EXTENSIONS 1
#else
#define SPECDEC_GNU_EXTENSIONS 0
#include <cmath>
#include <cstdlib> // std::abort
#include <cstring>
#endif

/// SPECDEC_X86_KERNELS: kernels can be compiled for instruction sets beyond the build's.
#if SPECDEC_GNU_EXTENSIONS && defined __x86_64__
#define SPECDEC_X86_KERNELS 1
#else
#define SPECDEC_X86_KERNELS 0
#endif

/// Vectors of `n` numbers of `type`, with + - * & ^ << >> of each. SELECT: a where the mask of a
/// comparison says so, or else b. BITS: the same bits as another vector of that size. CONVERT: each
/// number. KEPT: they are computed here and stay in registers (or GCC reads rows twice).
#if SPECDEC_GNU_EXTENSIONS
#define SPECDEC_TARGET(sets) __attribute__((target(sets)))
#define SPECDEC_ALWAYS_INLINE __attribute__((always_inline)) inline
#define SPECDEC_LANES(name, type, n)                                                               \
    using name __attribute__((vector_size((n) * sizeof(type)))) = type
#define SPECDEC_LANES_SELECT(mask, a, b) ((mask) ? (a) : (b))
#define SPECDEC_LANES_BITS(to, v) ((to)(v))
#define SPECDEC_LANES_CONVERT(to, v) __builtin_convertvector(v, to)
#else
#define SPECDEC_TARGET(sets)
#define SPECDEC_ALWAYS_INLINE inline
#define SPECDEC_LANES(name, type, n) using name = ::specdec::builtin::lane_array<type, n>
#define SPECDEC_LANES_SELECT(mask, a, b) select(mask, a, b)
#define SPECDEC_LANES_BITS(to, v) ::std::bit_cast<to>(v)
#define SPECDEC_LANES_CONVERT(to, v) ::specdec::builtin::convert<to>(v)
#endif
#if SPECDEC_GNU_EXTENSIONS
#define SPECDEC_NEVER_INLINE __attribute__((noinline))
#elif defined _MSC_VER
#define SPECDEC_NEVER_INLINE __declspec(noinline)
#else
#define SPECDEC_NEVER_INLINE
#endif
#if SPECDEC_X86_KERNELS
#define SPECDEC_LANES_KEPT(a, b, c, d) __asm__("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d))
#else
#define SPECDEC_LANES_KEPT(a, b, c, d) ((void)0)
#endif

namespace specdec::builtin {

/// Positive infinity, of float and of what a float becomes.
inline constexpr float infinity = std::bit_cast<float>(std::uint32_t{0x7F800000});

#if SPECDEC_GNU_EXTENSIONS
#define SPECDEC_C(name) __builtin_##name
[[noreturn]] inline void trap() {
    __builtin_trap();
}
#else
#define SPECDEC_C(name) std::name
[[noreturn]] inline void trap() {
    std::abort();
}
#endif

// clang-format off
inline double exp(double x) { return SPECDEC_C(exp)(x); }
inline double exp2(double x) { return SPECDEC_C(exp2)(x); }
inline double expm1(double x) { return SPECDEC_C(expm1)(x); }
inline double fabs(double x) { return SPECDEC_C(fabs)(x); }
inline double log(double x) { return SPECDEC_C(log)(x); }
inline double log1p(double x) { return SPECDEC_C(log1p)(x); }
inline double sqrt(double x) { return SPECDEC_C(sqrt)(x); }
inline double pow(double x, double y) { return SPECDEC_C(pow)(x, y); }
// clang-format on
/// Of kernels, too.
SPECDEC_ALWAYS_INLINE void copy(void* to, const void* from, std::size_t bytes) {
    SPECDEC_C(memcpy)(to, from, bytes);
}
[[nodiscard]] inline bool same(const void* a, const void* b, std::size_t bytes) {
    return SPECDEC_C(memcmp)(a, b, bytes) == 0;
}
#undef SPECDEC_C

#if SPECDEC_GNU_EXTENSIONS
inline float expf(float x) {
    return __builtin_expf(x);
}
inline float logf(float x) {
    return __builtin_logf(x);
}
#else
inline float expf(float x) {
    return std::exp(x);
}
inline float logf(float x) {
    return std::log(x);
}
#endif

/// f(), with its locals in a frame of its own: a caller that recurses does not keep them.
template <class F>
SPECDEC_NEVER_INLINE auto apart(const F& f) {
    return f();
}

/// The widest kernels that this CPU runs.
enum class instructions { any, avx2_fma, avx512 };

[[nodiscard]] inline instructions of_this_cpu() {
#if SPECDEC_X86_KERNELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return instructions::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return instructions::avx2_fma;
#endif
    return instructions::any;
}

/// The 128 bits of a product.
struct wide {
    std::uint64_t high, low;
};

[[nodiscard]] constexpr wide multiply(std::uint64_t a, std::uint64_t b) {
#if SPECDEC_GNU_EXTENSIONS && defined __SIZEOF_INT128__
    __extension__ using uint128 = unsigned __int128;
    const uint128 product = static_cast<uint128>(a) * b;
    return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
    constexpr std::uint64_t half = 0xFFFFFFFF;
    const std::uint64_t ll = (a & half) * (b & half), lh = (a & half) * (b >> 32);
    const std::uint64_t hl = (a >> 32) * (b & half), hh = (a >> 32) * (b >> 32);
    const std::uint64_t middle = (ll >> 32) + (lh & half) + hl;
    return {hh + (lh >> 32) + (middle >> 32), a * b};
#endif
}

/// The bytes in the other order (C++23's std::byteswap); compilers make one instruction of it.
[[nodiscard]] constexpr std::uint64_t byteswap(std::uint64_t x) {
    x = ((x & 0x00FF00FF00FF00FF) << 8) | ((x >> 8) & 0x00FF00FF00FF00FF);
    x = ((x & 0x0000FFFF0000FFFF) << 16) | ((x >> 16) & 0x0000FFFF0000FFFF);
    return (x << 32) | (x >> 32);
}

#if !SPECDEC_GNU_EXTENSIONS

/// The plain branch of SPECDEC_LANES.
template <class T, std::size_t N>
struct lane_array {
    using value_type = T;
    T at[N]{};

    lane_array() = default;
    lane_array(T all) { // as vectors take numbers: in every lane
        for (T& x : at)
            x = all;
    }
    template <class F>
    lane_array& each(const lane_array& other, const F& f) {
        for (std::size_t i = 0; i < N; ++i)
            at[i] = f(at[i], other.at[i]);
        return *this;
    }
    struct mask {
        bool at[N];
    };

    // clang-format off
    friend lane_array operator+(lane_array a, const lane_array& b) { return a.each(b, [](T x, T y) { return x + y; }); }
    friend lane_array operator-(lane_array a, const lane_array& b) { return a.each(b, [](T x, T y) { return x - y; }); }
    friend lane_array operator*(lane_array a, const lane_array& b) { return a.each(b, [](T x, T y) { return x * y; }); }
    friend lane_array operator&(lane_array a, const lane_array& b) { return a.each(b, [](T x, T y) { return x & y; }); }
    friend lane_array operator^(lane_array a, const lane_array& b) { return a.each(b, [](T x, T y) { return x ^ y; }); }
    friend lane_array operator<<(lane_array a, int n) { return a.each(a, [n](T x, T) { return x << n; }); }
    friend lane_array operator>>(lane_array a, int n) { return a.each(a, [n](T x, T) { return x >> n; }); }
    friend lane_array& operator+=(lane_array& a, const lane_array& b) { return a = a + b; }
    friend lane_array& operator^=(lane_array& a, const lane_array& b) { return a = a ^ b; }
    // clang-format on
    friend mask operator<(const lane_array& a, const lane_array& b) {
        mask m;
        for (std::size_t i = 0; i < N; ++i)
            m.at[i] = a.at[i] < b.at[i];
        return m;
    }
    friend mask operator>(const lane_array& a, const lane_array& b) { return b < a; }
    friend lane_array select(const mask& m, lane_array a, const lane_array& b) {
        for (std::size_t i = 0; i < N; ++i)
            a.at[i] = m.at[i] ? a.at[i] : b.at[i];
        return a;
    }
};

template <class To, class T, std::size_t N>
[[nodiscard]] To convert(const lane_array<T, N>& from) {
    To to;
    for (std::size_t i = 0; i < N; ++i)
        to.at[i] = static_cast<typename To::value_type>(from.at[i]);
    return to;
}

#endif

} // namespace specdec::builtin
