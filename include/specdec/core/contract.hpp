// SPDX-License-Identifier: MIT
#pragma once

#include <specdec/core/basic/builtins.hpp>

/// Two assertion words. SPECDEC_PRECONDITION: the caller broke a stated precondition.
/// SPECDEC_INVARIANT: the library broke its own promise. Both cost nothing when NDEBUG is defined
/// and may be redefined by the host engine before the first include.
#ifndef SPECDEC_PRECONDITION
#ifdef NDEBUG
#define SPECDEC_PRECONDITION(condition) ((void)0)
#else
#define SPECDEC_PRECONDITION(condition) ((condition) ? (void)0 : ::specdec::builtin::trap())
#endif
#endif

#ifndef SPECDEC_INVARIANT
#define SPECDEC_INVARIANT(condition) SPECDEC_PRECONDITION(condition)
#endif
