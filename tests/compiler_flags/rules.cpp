// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/floating_point.hpp>

double rules() {
    SPECDEC_SUMS_AS_WRITTEN
    return 0;
}
