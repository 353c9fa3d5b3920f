// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/config.hpp>
#include <specdec_engine/file/json_fields.hpp>
#include <specdec_engine/file/parse_json.hpp>

namespace specdec::engine {

namespace detail {

/// Errors: specdec::error for a field that asks for arithmetic that the engine does not have.
inline void require_plain(const nlohmann::json& json, const json_fields& fields) {
    const struct {
        const char* name;
        nlohmann::json usual; ///< that changes nothing, as does null
    } known[] = {{"attn_logit_softcapping", 0},
                 {"final_logit_softcapping", 0},
                 {"logit_scale", 1},
                 {"logits_scaling", 1},
                 {"embedding_multiplier", 1},
                 {"residual_multiplier", 1},
                 {"attention_multiplier", nullptr},
                 {"attn_temperature_tuning", false},
                 {"attention_chunk_size", nullptr},
                 {"clip_qkv", nullptr},
                 {"use_qk_norm", false},
                 {"qk_layernorm", false},
                 {"partial_rotary_factor", 1},
                 {"rotary_pct", 1},
                 {"rope_interleave", false},
                 {"no_rope_layers", nullptr},
                 {"alibi", false},
                 {"is_causal", true},
                 {"use_bidirectional_attention", false},
                 {"use_parallel_residual", false},
                 {"num_experts", 0},
                 {"num_local_experts", 0}};
    for (const auto& [name, usual] : known)
        if (fields.has(name) && json[name] != usual)
            fields.fail(name, "expected " + (usual.is_null() ? "none" : usual.dump()) + ", found " +
                                  json[name].dump() + ": it is not supported");
}

/// The settings of one kind of layers: `theta` where they name none.
inline rotary_config rotary_of(const nlohmann::json& settings, const json_fields& fields,
                               double theta) {
    rotary_config c;
    c.theta = fields.number_or("rope_theta", theta);
    for (const auto& [name, value] : settings.items())
        if (value.is_structured())
            fields.fail(name, "expected a number or a name");
    if (const double part = fields.number_or("partial_rotary_factor", 1.0); part != 1.0)
        fields.fail("partial_rotary_factor", "expected 1: heads are turned whole");
    const std::string type = fields.text_or("rope_type", fields.text_or("type", "default"));
    if (type == "default") {
        if (fields.number_or("factor", 1.0) != 1.0)
            fields.fail("rope_type", "expected that of the factor: default has none");
        return c;
    }
    if (type != "llama3")
        fields.fail("rope_type", "expected default or llama3, found " + type);
    c.scaled = true;
    c.llama3.factor = fields.number("factor");
    c.llama3.low_frequency_factor = fields.number("low_freq_factor");
    c.llama3.high_frequency_factor = fields.number("high_freq_factor");
    c.llama3.original_context = fields.number("original_max_position_embeddings");
    return c;
}

/// `rope_theta` and `rope_scaling` at the top level, or both in `rope_parameters` (Transformers 5,
/// which goes by a `rope_scaling` that says something if both are there), where they may stand by
/// layer type; all types must then agree.
inline rotary_config hf_rotary(const nlohmann::json& json, const std::string& source) {
    const json_fields top(json, source, "");
    const double theta = top.number_or("rope_theta", 10000.0);
    const bool scaling_first = top.has("rope_scaling") && !json["rope_scaling"].empty();
    const std::string place = scaling_first ? "rope_scaling" : "rope_parameters";
    const nlohmann::json none = nlohmann::json::object();
    const nlohmann::json& settings = top.has(place) ? top.object(place) : none;
    const json_fields of_all(settings, source, place);
    std::optional<rotary_config> c;
    for (const auto& [type, of] : settings.items()) {
        if (!type.ends_with("_attention") || of.is_null())
            continue;
        const json_fields fields(of_all.object(type), source, place + " " + type);
        const rotary_config found = rotary_of(of, fields, theta);
        if (c && *c != found)
            of_all.fail(type, "expected the same settings for all layer types");
        c = found;
    }
    if (!c)
        return rotary_of(settings, of_all, theta);
    for (const auto& [name, value] : settings.items())
        if (!name.ends_with("_attention"))
            of_all.fail(name, "expected settings by layer type alone");
    if (top.has("layer_types"))
        for (const nlohmann::json& type : json["layer_types"])
            if (type.is_string() && !of_all.has(type.get<std::string>()))
                of_all.fail(type.get<std::string>(), "expected this layer type, it is missing");
    return *c;
}

/// Whether `layer_types` names layers with a window. Errors: specdec::error for types that are not
/// computed, and for fewer than there are layers.
inline bool has_window_layers(const nlohmann::json& json, const json_fields& fields,
                              std::size_t layers) {
    if (!fields.has("layer_types"))
        return false;
    const nlohmann::json& types = json["layer_types"];
    if (!types.is_array() || types.size() < layers)
        fields.fail("layer_types", "expected one for each layer");
    bool found = false;
    for (std::size_t i = 0; i < layers; ++i) {
        const nlohmann::json& type = types[i];
        if (type != "full_attention" && type != "sliding_attention")
            fields.fail("layer_types",
                        "expected full_attention or sliding_attention, found " + type.dump());
        found = found || type == "sliding_attention";
    }
    return found;
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
    detail::require_plain(json, fields);

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
    const bool windows = detail::has_window_layers(json, fields, c.layers);
    if (!qwen || fields.boolean_or("use_sliding_window", false))
        c.window = detail::window_of(json, fields, c.context, qwen || mistral ? 4096 : c.window);
    if (windows && !qwen && c.window == model_config{}.window)
        fields.fail("layer_types", "expected full_attention: the windows of sliding_attention have "
                                   "no length (sliding_window)");
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

} // namespace specdec::engine
