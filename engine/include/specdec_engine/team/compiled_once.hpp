// SPDX-License-Identifier: MIT
#pragma once

/// SPECDEC_ONCE(declaration): an instantiation that takes seconds to compile. In a program of many
/// files one defines SPECDEC_COMPILE_ENGINE before it includes specdec_engine/load.hpp and
/// specdec_engine/load_tokenizer.hpp, and the others SPECDEC_ENGINE_COMPILED: then it is compiled
/// there only. With neither it is compiled wherever it is called. Functions that would be no
/// templates are some of their result, so that they can stand here.
#if defined(SPECDEC_COMPILE_ENGINE)
#define SPECDEC_ONCE(...) template __VA_ARGS__
#elif defined(SPECDEC_ENGINE_COMPILED)
#define SPECDEC_ONCE(...) extern template __VA_ARGS__
#else
#define SPECDEC_ONCE(...)
#endif
