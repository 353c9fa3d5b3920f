// SPDX-License-Identifier: MIT
#define SPECDEC_COMPILE_RULES
#include <specdec/speculation/speculation.hpp>
