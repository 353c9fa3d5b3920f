// SPDX-License-Identifier: MIT
#define SPECDEC_COMPILE_ENGINE
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
