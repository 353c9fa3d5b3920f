// SPDX-License-Identifier: MIT
#pragma once

/// llama.cpp as an engine: two models with a context each, two vocabularies, any rule. Needs the
/// CMake component llama_cpp (or llama.h and libllama by other means); llama.cpp from October 2025
/// on (llama_n_ctx_seq).
#include <specdec/interop/llama_cpp_model.hpp>
#include <specdec/interop/llama_cpp_tokenizer.hpp>
#include <specdec/interop/llama_cpp_vocabulary.hpp>
