// SPDX-License-Identifier: MIT
// xtensor's containers, wherever its version has them.
#pragma once

#if __has_include(<xtensor/containers/xtensor.hpp>) // since 0.26
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif
