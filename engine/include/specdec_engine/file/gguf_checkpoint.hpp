// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec_engine/file/checkpoint.hpp>
#include <specdec_engine/file/gguf.hpp>

/// GGUF files of the architectures llama, qwen2, qwen3, gemma3 and smollm3.
namespace specdec::engine {

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

/// A number of each layer: one for all, or an array of the same one.
inline std::size_t gguf_size_of_layers(const gguf_file& file, std::string_view key) {
    const gguf_value& value = file.at(key);
    if (value.type() != gguf_type::array)
        return gguf_size(file, key);
    const std::vector<std::int64_t> of_layers = value.integers();
    for (const std::int64_t n : of_layers)
        if (n < 0 || n != of_layers.front())
            throw error(file.source(), std::string(key),
                        "expected the same number for all layers, found " +
                            std::to_string(of_layers.front()) + " and " + std::to_string(n));
    if (of_layers.empty())
        throw error(file.source(), std::string(key), "expected a number for each layer");
    return static_cast<std::size_t>(of_layers.front());
}

/// The name of a tensor in GGUF and in Hugging Face's files.
struct tensor_names {
    std::string_view gguf, hf;
};
inline constexpr tensor_names outer_names[] = {{"token_embd.weight", "model.embed_tokens.weight"},
                                               {"output_norm.weight", "model.norm.weight"},
                                               {"output.weight", "lm_head.weight"},
                                               {"rope_freqs.weight", "rope_freqs.weight"}};
inline constexpr tensor_names inner_names[] = {
    {"attn_norm.weight", "input_layernorm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
    {"attn_q.bias", "self_attn.q_proj.bias"},
    {"attn_k.bias", "self_attn.k_proj.bias"},
    {"attn_v.bias", "self_attn.v_proj.bias"},
    {"attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attn_k_norm.weight", "self_attn.k_norm.weight"}};
/// Of blocks with four norms, in place of those above.
inline constexpr tensor_names four_norms[] = {
    {"post_attention_norm.weight", "post_attention_layernorm.weight"},
    {"ffn_norm.weight", "pre_feedforward_layernorm.weight"},
    {"post_ffw_norm.weight", "post_feedforward_layernorm.weight"}};

/// The other name of a tensor; those of blocks begin as told, and have four norms or two. "": it
/// has none.
[[nodiscard]] inline std::string renamed(std::string_view name,
                                         std::string_view tensor_names::*from,
                                         std::string_view block, std::string_view tensor_names::*to,
                                         std::string_view other_block, bool four) {
    for (const tensor_names& names : outer_names)
        if (name == names.*from)
            return std::string(names.*to);
    const std::size_t dot = name.find('.', block.size());
    if (!name.starts_with(block) || dot == name.npos)
        return "";
    const auto found = [&](std::span<const tensor_names> all) -> std::string {
        for (const tensor_names& names : all)
            if (name.substr(dot + 1) == names.*from) // other block, number, '.', the rest
                return std::string(other_block)
                    .append(name.substr(block.size(), dot + 1 - block.size()))
                    .append(names.*to);
        return "";
    };
    const std::string norm = four ? found(four_norms) : "";
    return norm.empty() ? found(inner_names) : norm;
}

/// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; "" for what is ignored.
[[nodiscard]] inline std::string hf_name(std::string_view name, bool four = false) {
    return renamed(name, &tensor_names::gguf, "blk.", &tensor_names::hf, "model.layers.", four);
}
/// The way back.
[[nodiscard]] inline std::string gguf_name(std::string_view name) {
    return renamed(name, &tensor_names::hf, "model.layers.", &tensor_names::gguf, "blk.", false);
}
[[nodiscard]] inline std::string gguf_name_of_four_norms(std::string_view name) {
    return renamed(name, &tensor_names::hf, "model.layers.", &tensor_names::gguf, "blk.", true);
}

/// Errors: specdec::error for a file that asks for arithmetic that the engine does not have.
inline void require_plain(const gguf_file& file, const std::string& architecture,
                          std::size_t head_dimension) {
    const auto key = [&](std::string_view name) { return architecture + "." + std::string(name); };
    const auto flag = [&](const char* name, bool usual, const char* expected) {
        if (const gguf_value* const value = file.find(key(name));
            value && value->boolean() != usual)
            throw error(file.source(), key(name), expected);
    };
    flag("attention.causal", true, "expected true: attention to later tokens is not supported");
    flag("use_parallel_residual", false, "expected false: it is not supported");
    /// Numbers that change nothing: 0, and another one where there is one.
    const struct {
        std::string_view name;
        double usual = 0;
    } numbers[] = {{"attn_logit_softcapping"},
                   {"final_logit_softcapping"},
                   {"attention.clamp_kqv"},
                   {"attention.max_alibi_bias"},
                   {"attention.temperature_scale"},
                   {"attention.scale", 1 / std::sqrt(static_cast<double>(head_dimension))},
                   {"logit_scale", 1},
                   {"embedding_scale", 1},
                   {"residual_scale", 1}};
    for (const auto& [name, usual] : numbers)
        if (const gguf_value* const value = file.find(key(name)))
            if (const double x = value->number(); x != 0 && !(std::abs(x - usual) < 1e-6 * usual))
                throw error(file.source(), key(name),
                            "expected " + (usual != 0 ? std::to_string(usual) : "0") + ", found " +
                                std::to_string(x) + ": it is not supported");
}

} // namespace detail

/// The architecture of a GGUF file. Errors: specdec::error for one that is not `expected`.
[[nodiscard]] inline std::string
gguf_architecture(const gguf_file& file, std::initializer_list<std::string_view> expected) {
    const std::string_view found = file.at("general.architecture").string();
    std::string names;
    for (const std::string_view name : expected) {
        if (found == name)
            return std::string(found);
        names.append(names.empty() ? "" : ", ").append(name);
    }
    throw error(file.source(), "general.architecture",
                "expected " + names + ", found " + std::string(found));
}

namespace detail {

/// What an architecture has that Llama does not. llama.cpp says some of it by its name alone: which
/// layers of Gemma 3 and SmolLM3 differ, and Gemma's scales.
inline void read_gguf_differences(const gguf_file& file, const std::string& architecture,
                                  model_config& c) {
    const auto key = [&](const char* name) { return architecture + "." + name; };
    const bool gemma = architecture == "gemma3";
    c.rotary.interleaved =
        architecture == "llama" || architecture == "eagle3" || architecture == "smollm3";
    c.qkv_bias = architecture == "qwen2";
    c.qk_norm = gemma || architecture == "qwen3";
    const std::string window = key("attention.sliding_window"); // 0: none
    if (const std::size_t n = gguf_size_or(file, window, 0); n > 0)
        c.window = n;
    if (c.window != model_config{}.window)
        c.kinds.assign(c.layers, layer_kind::window);
    if (gemma) {
        c.post_norms = c.gelu = true;
        c.embedding_scale = std::sqrt(static_cast<float>(c.dimension));
        // As Gemma 3's 27B, the only one of 62 layers.
        const std::size_t scalar = c.layers == 62 ? c.dimension / c.heads : c.head_dimension;
        c.query_scale = 1.0F / std::sqrt(static_cast<float>(scalar));
        c.local_rotary.emplace();
        if (const gguf_value* const theta = file.find(key("rope.freq_base_swa")))
            c.local_rotary->theta = theta->number();
        const std::size_t pattern = gguf_size_or(file, key("attention.sliding_window_pattern"), 6);
        for (std::size_t i = 0; !c.kinds.empty() && i < c.layers; ++i)
            if (pattern > 0 && (i + 1) % pattern == 0)
                c.kinds[i] = layer_kind::full;
    }
    if (architecture == "smollm3") {
        if (c.window != model_config{}.window)
            throw error(file.source(), window, "expected none: it is not supported");
        c.kinds.assign(c.layers, layer_kind::full);
        for (std::size_t i = 3; i < c.layers; i += 4)
            c.kinds[i] = layer_kind::unrotated;
    }
}

/// Linear scaling of positions. Errors: specdec::error for any other.
inline void read_gguf_scaling(const gguf_file& file, const std::string& architecture,
                              model_config& c) {
    const auto key = [&](const char* name) { return architecture + "." + name; };
    const gguf_value* const type = file.find(key("rope.scaling.type"));
    const bool none = type != nullptr && type->string() == "none";
    if (type != nullptr && !none && type->string() != "linear")
        throw error(file.source(), key("rope.scaling.type"),
                    "expected none or linear, found " + std::string(type->string()));
    for (const char* factor : {"rope.scaling.factor", "rope.scale_linear"}) // linear, if no type
        if (const gguf_value* x = file.find(key(factor)); !none && x != nullptr)
            if (const double scale = x->number(); scale != 0)
                c.rotary.linear = scale;
    if (const gguf_value* x = file.find(key("rope.scaling.attn_factor")); x && x->number() != 1)
        throw error(file.source(), key("rope.scaling.attn_factor"),
                    "expected 1: scores are not scaled");
}

} // namespace detail

/// The configuration of a GGUF file of one of the `expected` architectures; `tied` and rotary
/// factors come from its tensors (open_gguf). Errors: specdec::error naming file and key.
[[nodiscard]] inline model_config
read_gguf_config(const gguf_file& file, std::initializer_list<std::string_view> expected = {
                                            "llama", "qwen2", "qwen3", "gemma3", "smollm3"}) {
    const std::string& source = file.source();
    file.require_whole();
    const std::string architecture = gguf_architecture(file, expected);
    const auto key = [&](const char* name) { return architecture + "." + name; };
    model_config c;
    c.dimension = detail::gguf_size(file, key("embedding_length"));
    c.layers = detail::gguf_size(file, key("block_count"));
    c.heads = detail::gguf_size_of_layers(file, key("attention.head_count"));
    const std::string kv_heads = key("attention.head_count_kv");
    c.kv_heads = file.find(kv_heads) ? detail::gguf_size_of_layers(file, kv_heads) : c.heads;
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
    detail::require_plain(file, architecture, c.head_dimension);
    if (detail::gguf_size_or(file, key("expert_count"), 0) != 0)
        throw error(source, key("expert_count"), "expected 0: experts are not supported");
    c.hidden_dimension = detail::gguf_size_of_layers(file, key("feed_forward_length"));
    c.context = detail::gguf_size(file, key("context_length"));
    if (constexpr const char* trained = "specdec.trained_context"; file.find(trained) != nullptr)
        c.trained_context =
            checked_trained_context(detail::gguf_size(file, trained), c.context, source, trained);
    c.rms_epsilon = static_cast<float>(file.at(key("attention.layer_norm_rms_epsilon")).number());
    if (const gguf_value* theta = file.find(key("rope.freq_base")))
        c.rotary.theta = theta->number();
    detail::read_gguf_scaling(file, architecture, c);
    detail::read_gguf_differences(file, architecture, c);
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
    const bool four = c.config.post_norms;
    c.name_in_file = four ? &detail::gguf_name_of_four_norms : &detail::gguf_name;
    c.files = file.mappings();
    for (const tensor& t : file.tensors())
        if (const std::string name = detail::hf_name(t.name, four); !name.empty())
            c.add(name, t);
        else
            throw error(c.source, "tensor " + t.name,
                        "expected a tensor of the " +
                            std::string(file.at("general.architecture").string()) +
                            " architecture");
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

} // namespace specdec::engine
