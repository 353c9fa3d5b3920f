// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
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
inline void require_plain(const nlohmann::json& json, const json_fields& fields, bool smollm3) {
    const auto refuse = [&](const char* name, const nlohmann::json& usual) {
        if (fields.has(name) && json[name] != usual)
            fields.fail(name, "expected " + (usual.is_null() ? "none" : usual.dump()) + ", found " +
                                  json[name].dump() + ": it is not supported");
    };
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
                 {"alibi", false},
                 {"is_causal", true},
                 {"use_bidirectional_attention", false},
                 {"use_parallel_residual", false},
                 {"num_experts", 0},
                 {"num_local_experts", 0}};
    for (const auto& [name, usual] : known)
        refuse(name, usual);
    if (!smollm3)
        refuse("no_rope_layers", nullptr);
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
    if (type == "linear") {
        c.linear = fields.number("factor");
        return c;
    }
    if (type != "llama3")
        fields.fail("rope_type", "expected default, linear or llama3, found " + type);
    c.scaled = true;
    c.llama3.factor = fields.number("factor");
    c.llama3.low_frequency_factor = fields.number("low_freq_factor");
    c.llama3.high_frequency_factor = fields.number("high_freq_factor");
    c.llama3.original_context = fields.number("original_max_position_embeddings");
    return c;
}

/// `rope_theta` and `rope_scaling` at the top level, or both in `rope_parameters` (Transformers 5,
/// which goes by a `rope_scaling` that says something if both are there), where they may stand by
/// layer type: those of sliding_attention are local_rotary where they are others.
inline void read_rotary(const nlohmann::json& json, const std::string& source, bool gemma,
                        model_config& c) {
    const json_fields top(json, source, "");
    const double theta = top.number_or("rope_theta", gemma ? 1e6 : 1e4);
    const bool scaling_first = top.has("rope_scaling") && !json["rope_scaling"].empty();
    const std::string place = scaling_first ? "rope_scaling" : "rope_parameters";
    const nlohmann::json none = nlohmann::json::object();
    const nlohmann::json& settings = top.has(place) ? top.object(place) : none;
    const json_fields of_all(settings, source, place);
    std::optional<rotary_config> full, sliding;
    for (const auto& [type, of] : settings.items()) {
        if (!type.ends_with("_attention") || of.is_null())
            continue;
        if (type != "full_attention" && type != "sliding_attention")
            of_all.fail(type, "expected full_attention or sliding_attention");
        const json_fields fields(of_all.object(type), source, place + " " + type);
        (type == "full_attention" ? full : sliding) = rotary_of(of, fields, theta);
    }
    if (!full && !sliding) {
        c.rotary = rotary_of(settings, of_all, theta);
        if (gemma) { // whose local layers are not scaled
            c.local_rotary.emplace();
            c.local_rotary->theta = top.number_or("rope_local_base_freq", 1e4);
        }
        return;
    }
    for (const auto& [name, value] : settings.items())
        if (!name.ends_with("_attention"))
            of_all.fail(name, "expected settings by layer type alone");
    if (top.has("layer_types"))
        for (const nlohmann::json& type : json["layer_types"])
            if (type.is_string() && !of_all.has(type.get<std::string>()))
                of_all.fail(type.get<std::string>(), "expected this layer type, it is missing");
    c.rotary = full ? *full : *sliding;
    if (sliding && *sliding != c.rotary)
        c.local_rotary = sliding;
}

/// The kinds of layers that `layer_types` names; none where it is missing. Errors: specdec::error
/// for types that are not computed, and for fewer than there are layers.
inline std::vector<layer_kind> named_kinds(const nlohmann::json& json, const json_fields& fields,
                                           std::size_t layers) {
    std::vector<layer_kind> kinds;
    if (!fields.has("layer_types"))
        return kinds;
    const nlohmann::json& types = json["layer_types"];
    if (!types.is_array() || types.size() < layers)
        fields.fail("layer_types", "expected one for each layer");
    for (std::size_t i = 0; i < layers; ++i) {
        if (types[i] != "full_attention" && types[i] != "sliding_attention")
            fields.fail("layer_types",
                        "expected full_attention or sliding_attention, found " + types[i].dump());
        kinds.push_back(types[i] == "full_attention" ? layer_kind::full : layer_kind::window);
    }
    return kinds;
}

/// The length of the texts that a model was trained on: a field of this project. 0: it is missing.
inline std::size_t trained_context_of(const json_fields& fields, std::size_t context,
                                      const std::string& source) {
    constexpr const char* name = "trained_context";
    return fields.has(name) ? checked_trained_context(fields.size(name), context, source, name) : 0;
}

/// The architectures that are read.
enum class hf_architecture : std::uint8_t { llama, mistral, qwen2, qwen3, gemma3, smollm3 };

inline hf_architecture hf_architecture_of(const nlohmann::json& json, const json_fields& fields) {
    std::string found = fields.text_or("model_type", "");
    if (fields.has("architectures")) {
        const nlohmann::json& list = json["architectures"];
        if (!list.is_array() || list.size() != 1 || !list[0].is_string())
            fields.fail("architectures", "expected one name");
        found = list[0].get<std::string>();
    }
    const struct {
        const char *name, *type;
        hf_architecture architecture;
    } known[] = {{"LlamaForCausalLM", "llama", hf_architecture::llama},
                 {"MistralForCausalLM", "mistral", hf_architecture::mistral},
                 {"Qwen2ForCausalLM", "qwen2", hf_architecture::qwen2},
                 {"Qwen3ForCausalLM", "qwen3", hf_architecture::qwen3},
                 {"Gemma3ForCausalLM", "gemma3_text", hf_architecture::gemma3},
                 {"SmolLM3ForCausalLM", "smollm3", hf_architecture::smollm3}};
    for (const auto& [name, type, architecture] : known)
        if (found == name || found == type)
            return architecture;
    fields.fail("architectures",
                "expected LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, "
                "Qwen3ForCausalLM, Gemma3ForCausalLM or SmolLM3ForCausalLM, found " +
                    found);
}

/// Which layers have a window, and how long it is.
inline void read_windows(const nlohmann::json& json, const json_fields& fields,
                         hf_architecture architecture, model_config& c) {
    using enum hf_architecture;
    const bool asks = architecture == qwen2 || architecture == qwen3 || architecture == smollm3;
    c.kinds = named_kinds(json, fields, c.layers);
    if (asks && !fields.boolean_or("use_sliding_window", false)) {
        c.kinds.clear();
        return;
    }
    if (architecture == smollm3)
        fields.fail("use_sliding_window", "expected false: it is not supported");
    const std::size_t none = model_config{}.window; // null, or nothing where Llama says nothing
    c.window = json.contains("sliding_window") ? fields.size_or("sliding_window", none)
               : architecture == llama         ? none
                                               : 4096;
    if (c.window == none) {
        for (const layer_kind kind : c.kinds)
            if (kind == layer_kind::window)
                fields.fail("layer_types", "expected full_attention: the windows of "
                                           "sliding_attention have no length (sliding_window)");
        c.kinds.clear();
        return;
    }
    if (!c.kinds.empty())
        return;
    const std::size_t full = asks ? fields.size_or("max_window_layers", 28) : 0;
    const std::size_t pattern =
        architecture == gemma3
            ? fields.size_or(fields.has("sliding_window_pattern") ? "sliding_window_pattern"
                                                                  : "_sliding_window_pattern",
                             6)
            : 0;
    for (std::size_t i = 0; i < c.layers; ++i)
        c.kinds.push_back(i < full || (pattern > 0 && (i + 1) % pattern == 0) ? layer_kind::full
                                                                              : layer_kind::window);
}

/// SmolLM3: `no_rope_layers` has a 1 for each layer that is rotated, or every fourth is not.
inline void read_unrotated(const nlohmann::json& json, const json_fields& fields, model_config& c) {
    c.kinds.assign(c.layers, layer_kind::full);
    if (!fields.has("no_rope_layers")) {
        const std::size_t interval = fields.size_or("no_rope_layer_interval", 4);
        for (std::size_t i = 0; interval > 0 && i < c.layers; ++i)
            if ((i + 1) % interval == 0)
                c.kinds[i] = layer_kind::unrotated;
        return;
    }
    const nlohmann::json& rotated = json["no_rope_layers"];
    if (!rotated.is_array() || rotated.size() != c.layers)
        fields.fail("no_rope_layers", "expected a 0 or 1 for each layer");
    for (std::size_t i = 0; i < c.layers; ++i) {
        if (rotated[i] != 0 && rotated[i] != 1)
            fields.fail("no_rope_layers", "expected a 0 or 1 for each layer");
        if (rotated[i] == 0)
            c.kinds[i] = layer_kind::unrotated;
    }
}

} // namespace detail

/// Reads the text of a Hugging Face config.json of LlamaForCausalLM, MistralForCausalLM,
/// Qwen2ForCausalLM, Qwen3ForCausalLM, Gemma3ForCausalLM or SmolLM3ForCausalLM. Errors:
/// specdec::error naming file and field, also for what is not supported.
[[nodiscard]] inline model_config read_hf_config(std::string_view text, const std::string& source) {
    const nlohmann::json json = parse_json(text, source, "file");
    const json_fields fields(json, source, "");

    using enum detail::hf_architecture;
    const detail::hf_architecture architecture = detail::hf_architecture_of(json, fields);
    const bool gemma = architecture == gemma3;
    const char* const act = gemma ? "hidden_activation" : "hidden_act";
    const std::string function = gemma ? "gelu_pytorch_tanh" : "silu";
    if (const std::string found = fields.text_or(act, function); found != function)
        fields.fail(act, "expected " + function + ", found " + found);
    if (fields.boolean_or("attention_bias", false))
        fields.fail("attention_bias", "expected false: a bias on the output is not supported");
    if (fields.boolean_or("mlp_bias", false))
        fields.fail("mlp_bias", "expected false: it is not supported");
    if (fields.has("quantization_config"))
        fields.fail("quantization_config", "expected none: F32, F16 and BF16 are supported");
    detail::require_plain(json, fields, architecture == smollm3);

    model_config c;
    c.dimension = fields.size("hidden_size");
    c.layers = fields.size("num_hidden_layers");
    c.heads = fields.size("num_attention_heads");
    c.kv_heads = fields.size_or("num_key_value_heads", c.heads);
    if (c.heads == 0)
        fields.fail("num_attention_heads", "expected at least 1");
    c.head_dimension = fields.size_or("head_dim", gemma                   ? 256
                                                  : architecture == qwen3 ? 128
                                                                          : c.dimension / c.heads);
    c.hidden_dimension = fields.size("intermediate_size");
    c.vocabulary_size = fields.size("vocab_size");
    c.context = fields.size_or("max_position_embeddings", 2048);
    c.trained_context = detail::trained_context_of(fields, c.context, source);
    c.rms_epsilon = static_cast<float>(fields.number_or("rms_norm_eps", 1e-6));
    c.tied = fields.boolean_or("tie_word_embeddings", gemma || architecture == smollm3);
    c.qkv_bias = architecture == qwen2;
    c.qk_norm = gemma || architecture == qwen3;
    if (gemma) {
        c.post_norms = c.norms_less_one = c.gelu = true;
        c.embedding_scale = std::sqrt(static_cast<float>(c.dimension));
        c.query_scale =
            static_cast<float>(1.0 / std::sqrt(fields.number_or("query_pre_attn_scalar", 256.0)));
    }
    detail::read_rotary(json, source, gemma, c);
    detail::read_windows(json, fields, architecture, c);
    if (architecture == smollm3)
        detail::read_unrotated(json, fields, c);
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
