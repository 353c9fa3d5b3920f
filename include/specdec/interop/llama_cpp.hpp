// SPDX-License-Identifier: MIT
#pragma once

/// llama.cpp as an engine: two models with a context each, two vocabularies, any rule. Needs the
/// CMake component llama_cpp (or llama.h and libllama by other means), and a llama.cpp that has
/// llama_n_ctx_seq (end of 2025).
#include <specdec/interop/llama_cpp_batch_model.hpp>
#include <specdec/interop/llama_cpp_calls.hpp>
#include <specdec/interop/llama_cpp_model.hpp>
#include <specdec/interop/llama_cpp_recurrent_model.hpp>
#include <specdec/interop/llama_cpp_servers.hpp>
#include <specdec/interop/llama_cpp_tokenizer.hpp>
#include <specdec/interop/llama_cpp_tree_model.hpp>
#include <specdec/interop/llama_cpp_vocabulary.hpp>
