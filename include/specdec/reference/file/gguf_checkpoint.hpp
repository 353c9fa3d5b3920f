// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring> // std::memcpy
#include <string>
#include <string_view>
#include <utility>

#include <specdec/reference/file/checkpoint.hpp>
#include <specdec/reference/file/gguf.hpp>

/// GGUF files of the llama architecture.
namespace specdec::reference {

namespace detail {

inline std::size_t gguf_size(const gguf_file& file, std::string_view key) {
    const gguf_value& value = file.at(key);
    const std::int64_t n = value.integer();
    if (n < 0)
        throw error(file.source(), std::string(key), "expected no negative number");
    return static_cast<std::size_t>(n);
}

inline std::size_t gguf_size_or(const gguf_file& file, std::string_view key, std::size_t other) {
    return file.find(key) != nullptr ? gguf_size(file, key) : other;
}

/// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; "" for what is ignored.
inline std::string hf_name(const std::string& name) {
    static constexpr std::pair<std::string_view, std::string_view> outer[] = {
        {"token_embd.weight", "model.embed_tokens.weight"},
        {"output_norm.weight", "model.norm.weight"},
        {"output.weight", "lm_head.weight"},
        {"rope_freqs.weight", "rope_freqs.weight"}};
    static constexpr std::pair<std::string_view, std::string_view> inner[] = {
        {"attn_norm.weight", "input_layernorm.weight"},
        {"ffn_norm.weight", "post_attention_layernorm.weight"},
        {"attn_q.weight", "self_attn.q_proj.weight"},
        {"attn_k.weight", "self_attn.k_proj.weight"},
        {"attn_v.weight", "self_attn.v_proj.weight"},
        {"attn_output.weight", "self_attn.o_proj.weight"},
        {"ffn_gate.weight", "mlp.gate_proj.weight"},
        {"ffn_up.weight", "mlp.up_proj.weight"},
        {"ffn_down.weight", "mlp.down_proj.weight"}};
    for (const auto& [from, to] : outer)
        if (name == from)
            return std::string(to);
    const std::size_t dot = name.find('.', 4);
    if (name.rfind("blk.", 0) != 0 || dot == std::string::npos)
        return "";
    for (const auto& [from, to] : inner)
        if (std::string_view(name).substr(dot + 1) == from)
            return "model.layers." + name.substr(4, dot - 4) + "." + std::string(to);
    return "";
}

} // namespace detail

/// The configuration of a GGUF file of the llama architecture, or of one with its keys; `tied` and
/// rotary factors come from its tensors (open_gguf). Errors: specdec::error naming file and key.
[[nodiscard]] inline model_config read_gguf_config(const gguf_file& file,
                                                   const std::string& architecture = "llama") {
    const std::string& source = file.source();
    if (const auto found = file.at("general.architecture").string(); found != architecture)
        throw error(source, "general.architecture",
                    "expected " + architecture + ", found " + std::string(found));
    const auto key = [&](const char* name) { return architecture + "." + name; };
    model_config c;
    c.dimension = detail::gguf_size(file, key("embedding_length"));
    c.layers = detail::gguf_size(file, key("block_count"));
    c.heads = detail::gguf_size(file, key("attention.head_count"));
    c.kv_heads = detail::gguf_size_or(file, key("attention.head_count_kv"), c.heads);
    if (c.heads == 0)
        throw error(source, key("attention.head_count"), "expected at least 1");
    c.head_dimension =
        detail::gguf_size_or(file, key("attention.key_length"), c.dimension / c.heads);
    if (detail::gguf_size_or(file, key("attention.value_length"), c.head_dimension) !=
            c.head_dimension ||
        detail::gguf_size_or(file, key("rope.dimension_count"), c.head_dimension) !=
            c.head_dimension)
        throw error(source, key("attention.value_length") + " and " + key("rope.dimension_count"),
                    "expected the size of a head, " + std::to_string(c.head_dimension));
    if (detail::gguf_size_or(file, key("expert_count"), 0) != 0)
        throw error(source, key("expert_count"), "expected 0: experts are not supported");
    c.hidden_dimension = detail::gguf_size(file, key("feed_forward_length"));
    c.context = detail::gguf_size(file, key("context_length"));
    c.rms_epsilon = static_cast<float>(file.at(key("attention.layer_norm_rms_epsilon")).number());
    if (const gguf_value* theta = file.find(key("rope.freq_base")))
        c.rotary.theta = theta->number();
    const gguf_value* const type = file.find(key("rope.scaling.type"));
    if (type != nullptr && type->string() != "none")
        throw error(source, key("rope.scaling.type"),
                    "expected none, found " + std::string(type->string()));
    for (const char* factor : {"rope.scaling.factor", "rope.scale_linear"}) // linear, if no type
        if (const gguf_value* x = file.find(key(factor)); type == nullptr && x != nullptr)
            if (const double scale = x->number(); scale != 0 && scale != 1)
                throw error(source, key(factor), "expected 1, as positions are not scaled here");
    if (const gguf_value* x = file.find(key("rope.scaling.attn_factor")); x && x->number() != 1)
        throw error(source, key("rope.scaling.attn_factor"), "expected 1: scores are not scaled");
    const std::string window = key("attention.sliding_window"); // 0: none
    if (const std::size_t n = detail::gguf_size_or(file, window, 0); n > 0)
        c.window = n;
    if (c.window < c.context)
        throw error(source, window, "expected none below the context: it is not supported");
    c.rotary.interleaved = true;
    if (const auto id = gguf_token_id(file, "tokenizer.ggml.bos_token_id"))
        c.bos = *id;
    for (const char* end : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"})
        if (const auto id = gguf_token_id(file, end))
            c.eos.push_back(*id);
    return c;
}

/// The whole checkpoint. Its tensors view the file's mapping (or the bytes it was made of).
[[nodiscard]] inline checkpoint open_gguf(const gguf_file& file) {
    checkpoint c;
    c.source = file.source();
    c.config = read_gguf_config(file);
    if (file.mapping())
        c.files.push_back(file.mapping());
    for (const tensor& t : file.tensors())
        if (const std::string name = detail::hf_name(t.name); !name.empty())
            c.add(name, t);
        else
            throw error(c.source, "tensor " + t.name,
                        "expected a tensor of the llama architecture");
    c.config.tied = !c.has("lm_head.weight");
    const auto embedding = c.tensors.find("model.embed_tokens.weight");
    if (embedding == c.tensors.end())
        throw error(c.source, "tensor token_embd.weight", "expected this tensor, it is missing");
    c.config.vocabulary_size = embedding->second.rows();
    if (const auto found = c.tensors.find("rope_freqs.weight"); found != c.tensors.end()) {
        const tensor& t = c.at("rope_freqs.weight", {c.config.head_dimension / 2});
        if (t.type != dtype::f32)
            throw error(c.source, "tensor rope_freqs.weight", "expected F32");
        c.config.rotary.factors.resize(t.columns());
        std::memcpy(c.config.rotary.factors.data(), t.bytes.data(), t.bytes.size());
    }
    check(c.config, c.source);
    return c;
}

} // namespace specdec::reference
