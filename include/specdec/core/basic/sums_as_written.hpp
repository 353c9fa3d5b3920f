// SPDX-License-Identifier: MIT
#pragma once

/// First in the body of a function that would be wrong with its sums in another order.
#ifdef __clang__
#define SPECDEC_SUMS_AS_WRITTEN _Pragma("clang fp reassociate(off)")
#else
#define SPECDEC_SUMS_AS_WRITTEN
#endif
