// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec/reference/file/config.hpp>
#include <specdec/reference/file/json_fields.hpp>

namespace specdec::reference {

namespace detail {

/// `rope_theta` and `rope_scaling` at the top level, or both in `rope_parameters` (Transformers 5,
/// which goes by a `rope_scaling` that says something if both are there).
inline rotary_config hf_rotary(const nlohmann::json& json, const std::string& source) {
    const json_fields top(json, source, "");
    rotary_config c;
    c.theta = top.number_or("rope_theta", 10000.0);
    const bool scaling_first = top.has("rope_scaling") && !json["rope_scaling"].empty();
    const char* place = scaling_first ? "rope_scaling" : "rope_parameters";
    if (!top.has(place))
        return c;
    const json_fields scaling(top.object(place), source, place);
    c.theta = scaling.number_or("rope_theta", c.theta);
    const std::string type = scaling.text_or("rope_type", scaling.text_or("type", "default"));
    if (type == "default")
        return c;
    if (type != "llama3")
        scaling.fail("rope_type", "expected default or llama3, found " + type);
    c.scaled = true;
    c.llama3.factor = scaling.number("factor");
    c.llama3.low_frequency_factor = scaling.number("low_freq_factor");
    c.llama3.high_frequency_factor = scaling.number("high_freq_factor");
    c.llama3.original_context = scaling.number("original_max_position_embeddings");
    return c;
}

/// A window that never closes within the context changes nothing there; any other would. `usual`:
/// where nothing is said.
inline std::size_t window_of(const nlohmann::json& json, const json_fields& fields,
                             std::size_t context, std::size_t usual) {
    const std::size_t none = model_config{}.window; // null
    const std::size_t window =
        json.contains("sliding_window") ? fields.size_or("sliding_window", none) : usual;
    if (window < context)
        fields.fail("sliding_window", "expected none below the context of " +
                                          std::to_string(context) + ", found " +
                                          std::to_string(window) + ": it is not supported");
    return window;
}

} // namespace detail

/// Reads the text of a Hugging Face config.json of LlamaForCausalLM, MistralForCausalLM or
/// Qwen2ForCausalLM. Errors: specdec::error naming file and field, also for what is not supported.
[[nodiscard]] inline model_config read_hf_config(std::string_view text, const std::string& source) {
    const nlohmann::json json = parse_json(text, source, "file");
    const json_fields fields(json, source, "");

    std::string architecture = fields.text_or("model_type", "");
    if (fields.has("architectures")) {
        const nlohmann::json& list = json["architectures"];
        if (!list.is_array() || list.size() != 1 || !list[0].is_string())
            fields.fail("architectures", "expected one name");
        architecture = list[0].get<std::string>();
    }
    const bool qwen = architecture == "Qwen2ForCausalLM" || architecture == "qwen2";
    const bool mistral = architecture == "MistralForCausalLM" || architecture == "mistral";
    if (!qwen && !mistral && architecture != "LlamaForCausalLM" && architecture != "llama")
        fields.fail("architectures", "expected LlamaForCausalLM, MistralForCausalLM or "
                                     "Qwen2ForCausalLM, found " +
                                         architecture);
    if (const std::string act = fields.text_or("hidden_act", "silu"); act != "silu")
        fields.fail("hidden_act", "expected silu, found " + act);
    if (fields.boolean_or("attention_bias", false))
        fields.fail("attention_bias", "expected false: a bias on the output is not supported");
    if (fields.boolean_or("mlp_bias", false))
        fields.fail("mlp_bias", "expected false: it is not supported");
    if (fields.has("quantization_config"))
        fields.fail("quantization_config", "expected none: F32, F16 and BF16 are supported");

    model_config c;
    c.dimension = fields.size("hidden_size");
    c.layers = fields.size("num_hidden_layers");
    c.heads = fields.size("num_attention_heads");
    c.kv_heads = fields.size_or("num_key_value_heads", c.heads);
    if (c.heads == 0)
        fields.fail("num_attention_heads", "expected at least 1");
    c.head_dimension = fields.size_or("head_dim", c.dimension / c.heads);
    c.hidden_dimension = fields.size("intermediate_size");
    c.vocabulary_size = fields.size("vocab_size");
    c.context = fields.size_or("max_position_embeddings", 2048);
    c.rms_epsilon = static_cast<float>(fields.number_or("rms_norm_eps", 1e-6));
    c.tied = fields.boolean_or("tie_word_embeddings", false);
    c.qkv_bias = qwen;
    c.rotary = detail::hf_rotary(json, source);
    if (!qwen || fields.boolean_or("use_sliding_window", false))
        c.window = detail::window_of(json, fields, c.context, qwen || mistral ? 4096 : c.window);
    if (const auto bos = fields.ids("bos_token_id"); !bos.empty())
        c.bos = bos.front();
    c.eos = fields.ids("eos_token_id");
    if (fields.has("specdec_exits"))
        c.exits = fields.sizes("specdec_exits");
    check(c, source);
    return c;
}

/// The end-of-text ids of a generation_config.json, which may name more than config.json does.
[[nodiscard]] inline std::vector<std::int32_t> read_generation_eos(std::string_view text,
                                                                   const std::string& source) {
    const nlohmann::json json = parse_json(text, source, "file");
    return json_fields(json, source, "").ids("eos_token_id");
}

} // namespace specdec::reference
