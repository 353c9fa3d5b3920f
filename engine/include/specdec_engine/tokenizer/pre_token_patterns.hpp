// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <specdec/core/error.hpp>
#include <specdec_engine/tokenizer/pre_tokenizer.hpp>

namespace specdec::engine {

/// The splitting patterns of published models, as their tokenizer.json files give them.
namespace pre_token_pattern {
inline constexpr std::string_view gpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
/// llama.cpp's for models that name none.
inline constexpr std::string_view default_steps[] = {
    R"([\p{P}\$\+<=>\^~\|]+)",
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))", R"(\p{N}+)",
    R"([0-9][0-9][0-9])"};
inline constexpr std::string_view digit = R"(\p{N})";
inline constexpr std::string_view digits = R"(\p{N}+)";
inline constexpr std::string_view punctuation = R"([\p{P}$+<=>^`|~])";
/// \w+|[^\w\s]+ in Rust, whose \w has the joiners.
inline constexpr std::string_view words =
    R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}\s]+)";
inline constexpr std::string_view white_space = R"(\s+)";
} // namespace pre_token_pattern

/// Whether the name stands for Llama 3's (whose models take whole pre-tokens that are tokens).
[[nodiscard]] inline bool is_llama3_pre_tokenizer(std::string_view name) {
    for (const std::string_view known : {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1",
                                         "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"})
        if (name == known)
            return true;
    return false;
}

/// The pre-tokenizer that a GGUF file names in `tokenizer.ggml.pre`. Errors: an unknown name.
[[nodiscard]] inline pre_tokenizer
named_pre_tokenizer(std::string_view name, const std::string& source, const std::string& field) {
    pre_tokenizer out;
    const auto is = [name](auto... names) { return ((name == names) || ...); };
    const auto split = [&](std::string_view pattern) {
        pre_token_step step;
        step.pattern.emplace(pattern, white_space_rule::unicode, source, field);
        out.add(std::move(step));
    };
    if (is("gpt-2", "phi-2", "mpt", "olmo", "jais", "gigachat", "roberta-bpe", "exaone4", "jina-es",
           "jina-de", "jina-v1-en", "jina-v2-es", "jina-v2-de", "jina-v2-code", "a.x-4.0", "mellum",
           "modern-bert", "trillion", "granite-docling")) {
        split(pre_token_pattern::gpt2);
    } else if (is("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b",
                  "mellum2")) {
        split(pre_token_pattern::digit);
        split(pre_token_pattern::gpt2);
    } else if (is_llama3_pre_tokenizer(name) || is("dbrx", "smaug-bpe", "glm4", "chatglm-bpe")) {
        split(pre_token_pattern::llama3);
    } else if (is("qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "kormo", "f2llmv2", "hunyuan",
                  "solar-open", "grok-2")) {
        split(pre_token_pattern::qwen2);
    } else if (name == "default") {
        for (const std::string_view pattern : pre_token_pattern::default_steps)
            split(pattern);
    } else {
        throw error(source, field,
                    "expected a known pre-tokenizer (gpt-2, smollm, starcoder, refact, llama-bpe, "
                    "qwen2, ...), found \"" +
                        std::string(name) + "\"");
    }
    return out;
}

} // namespace specdec::engine
