// SPDX-License-Identifier: MIT
#pragma once

#if defined(__x86_64__)
#include <immintrin.h> // declares the compiler's own functions
#endif

/// Products that go into a sum. Compilers contract them to one rounding in some builds and not in
/// others (GCC from -O2 on), so kernels say which they mean, and logits do not depend on the
/// build's optimisation.
namespace specdec::engine::detail {

#if defined(__GNUC__) && !defined(__clang__)
// The compiler's functions are instructions: nothing is called that an ABI could differ for.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
/// sum = a * b + sum, rounded once with registers of AVX2 and AVX-512, whose functions are compiled
/// for FMA, and as the compiler likes with others. By reference, as all vectors (lines.hpp).
template <class Floats>
[[gnu::always_inline]] inline void add_product(Floats& sum, const Floats& a, const Floats& b) {
#if defined(__x86_64__) && !defined(__clang__) // clang contracts an expression in every build
    if constexpr (sizeof(Floats) == 64)
        sum = __builtin_ia32_vfmaddps512_mask(a, b, sum, -1, _MM_FROUND_CUR_DIRECTION);
    else if constexpr (sizeof(Floats) == 32)
        sum = __builtin_ia32_vfmaddps256(a, b, sum);
    else
#endif
        sum += a * b;
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// x = x * factor + summand.
template <class Floats>
[[gnu::always_inline]] inline void scale_and_add(Floats& x, const Floats& factor,
                                                 const Floats& summand) {
    Floats sum = summand;
    add_product(sum, x, factor);
    x = sum;
}

} // namespace specdec::engine::detail
