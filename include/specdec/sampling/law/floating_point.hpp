// SPDX-License-Identifier: MIT
#pragma once

#include <specdec/core/basic/sums_as_written.hpp>

/// What laws need of the compiler, asked for in the build: infinities (a forbidden token), NaN (a
/// broken row is refused), float that is rounded to float, and sums in the order in which they
/// stand, as exp is computed by adding a large number and taking it away again. Without that a
/// probability may be wrong by a third, and nothing says so.
///
/// Refused where a macro tells: -ffast-math and -Ofast, -ffinite-math-only, with GCC also what it
/// counts as not IEEE 754 (-funsafe-math-optimizations, -fassociative-math, -freciprocal-math,
/// -fno-signed-zeros, -fsingle-precision-constant), and floats computed in wider registers (x87).
/// Clang has no macro for its parts of -ffast-math; there SPECDEC_SUMS_AS_WRITTEN makes them
/// right (core/basic/sums_as_written.hpp). (It has none for -fno-honor-nans alone either, with
/// which NaN may pass unseen.) tests/compiler_flags compiles and runs one program under each.
#if defined __FAST_MATH__ || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__ > 0)
#error "specdec: expected infinities and NaN as in IEEE 754: compile without -ffast-math, \
-Ofast and -ffinite-math-only"
#elif defined __ASSOCIATIVE_MATH__ || (defined __GCC_IEC_559 && __GCC_IEC_559 == 0)
#error "specdec: expected sums as they are written and constants as in IEEE 754: compile without \
-funsafe-math-optimizations, -fassociative-math, -freciprocal-math, -fno-signed-zeros and \
-fsingle-precision-constant"
#endif

// (16 is 0 for float and double: it tells of numbers half as wide.)
#if (defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16) ||      \
    (defined __i386__ && !defined __SSE2_MATH__)
#error "specdec: expected float computed as float, not in wider registers: on x86 compile with \
-msse2 -mfpmath=sse"
#endif
