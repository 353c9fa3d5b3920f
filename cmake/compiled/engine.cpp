// SPDX-License-Identifier: MIT
#define SPECDEC_COMPILE_ENGINE
#include <specdec/reference/load.hpp>
#include <specdec/reference/load_tokenizer.hpp>
