// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <specdec/core/error.hpp>
#include <specdec/reference/json_object.hpp>
#include <specdec/reference/safetensors_file.hpp>
#include <specdec/reference/transformer_config.hpp>
#include <specdec/reference/transformer_weights.hpp>
#include <specdec/vocab/table/atomic_file.hpp>

namespace specdec::reference {

/// Reads `rope_scaling`, or `rope_parameters` of newer files. Errors: as read_transformer_config.
[[nodiscard]] inline rotary_settings read_rotary_settings(const json_object& fields) {
    rotary_settings r;
    r.theta = fields.number("rope_theta", r.theta);
    const char* const place = fields.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
    if (!fields.has(place))
        return r;
    const json_object scaling = fields.object(place);
    r.theta = scaling.number("rope_theta", r.theta);
    if (scaling.number("partial_rotary_factor", 1) != 1)
        scaling.refuse("partial_rotary_factor", "expected 1: no other one is supported");
    const std::string type = scaling.text("rope_type", scaling.text("type", "default"));
    if (type == "default")
        return r;
    if (type != "linear" && type != "llama3")
        scaling.refuse("rope_type", "expected default, linear or llama3, found " + type);
    r.scaling = type == "linear" ? rotary_scaling::linear : rotary_scaling::llama3;
    r.factor = scaling.number("factor");
    if (r.scaling == rotary_scaling::llama3) {
        r.low_frequency_factor = scaling.number("low_freq_factor");
        r.high_frequency_factor = scaling.number("high_freq_factor");
        r.original_context = scaling.number("original_max_position_embeddings");
    }
    return r;
}

/// Reads the text of a Hugging Face config.json of LlamaForCausalLM, MistralForCausalLM or
/// Qwen2ForCausalLM. Errors: specdec::error(source, FIELD, ...) for a field that is missing, wrong,
/// or asks for what is not supported: other activations, biases on other products, sliding windows,
/// quantised weights.
[[nodiscard]] inline transformer_config read_transformer_config(std::string_view text,
                                                                const std::string& source) {
    const nlohmann::json json = json_of(text, source, "file");
    const json_object fields(json, source);
    if (!fields.at("architectures").is_array() || fields.at("architectures").size() != 1 ||
        !fields.at("architectures")[0].is_string())
        fields.refuse("architectures", "expected one name");
    const std::string name = fields.at("architectures")[0].get<std::string>();
    const bool qwen = name == "Qwen2ForCausalLM";
    if (!qwen && name != "LlamaForCausalLM" && name != "MistralForCausalLM")
        fields.refuse("architectures", "expected LlamaForCausalLM, MistralForCausalLM or "
                                       "Qwen2ForCausalLM, found " +
                                           name);
    if (const std::string act = fields.text("hidden_act", "silu"); act != "silu")
        fields.refuse("hidden_act", "expected silu, found " + act);
    for (const char* const bias : {"attention_bias", "mlp_bias"})
        if (fields.flag(bias, false))
            fields.refuse(bias, "expected false: these biases are not supported");
    for (const char* const more :
         {"quantization_config", "attention_chunk_size", "no_rope_layers", "clip_qkv"})
        if (fields.has(more))
            fields.refuse(more, "expected none: it is not supported");
    for (const char* const factor : {"embedding_multiplier", "residual_multiplier",
                                     "logits_scaling", "logit_scale", "partial_rotary_factor"})
        if (fields.number(factor, 1) != 1)
            fields.refuse(factor, "expected 1: no other one is supported");

    transformer_config c;
    c.width = fields.size("hidden_size");
    c.layers = fields.size("num_hidden_layers");
    c.heads = fields.size("num_attention_heads");
    c.kv_heads = fields.size("num_key_value_heads", c.heads);
    c.head_dimension = fields.size("head_dim", c.heads > 0 ? c.width / c.heads : 0);
    c.inner_width = fields.size("intermediate_size");
    c.vocabulary_size = fields.size("vocab_size");
    c.context = fields.size("max_position_embeddings", 2048);
    c.rms_epsilon = fields.number("rms_norm_eps", 1e-6);
    c.tied = fields.flag("tie_word_embeddings", false);
    c.qkv_bias = qwen;
    c.rotary = read_rotary_settings(fields);
    if (!qwen || fields.flag("use_sliding_window", false))
        if (fields.size("sliding_window", c.context) < c.context)
            fields.refuse("sliding_window", "expected none below the context of " +
                                                std::to_string(c.context) +
                                                ": it is not supported");
    validate(c, source);
    return c;
}

/// The weights of a Hugging Face folder: config.json and one model.safetensors with F32, F16 or
/// BF16 numbers. Errors: specdec::error(FILE, FIELD, ...) as the two readers say; for a tensor that
/// the configuration does not ask for, apart from the rotary frequencies of older files; and for a
/// tied LM head that is another matrix than the embedding. Nothing larger than the files is
/// allocated before they have been checked.
template <std::floating_point Scalar = float>
[[nodiscard]] std::shared_ptr<const transformer_weights<Scalar>>
load_weights(const std::filesystem::path& folder) {
    const std::string config = (folder / "config.json").string();
    auto weights = std::make_shared<transformer_weights<Scalar>>();
    weights->config = read_transformer_config(read_file(config), config);
    weights->layers.resize(weights->config.layers);
    const safetensors_file file((folder / "model.safetensors").string());
    std::set<std::string> read;
    visit_tensors(*weights, [&](const std::string& name, auto& tensor, std::size_t rows,
                                std::size_t columns) {
        if (columns == 0)
            return;
        file.read(name, tensor, rows, columns);
        read.insert(name);
    });
    if (const std::string head = "lm_head.weight"; weights->config.tied && file.has(head)) {
        matrix<Scalar> own;
        file.read(head, own, weights->config.vocabulary_size, weights->config.width);
        if (own != weights->embedding)
            fail(file.source(), "tensor " + head,
                 "expected the embedding, as config.json ties them (tie_word_embeddings)");
        read.insert(head);
    }
    for (const std::string& name : file.names())
        if (!read.contains(name) && !name.ends_with("rotary_emb.inv_freq"))
            fail(file.source(), "tensor " + name,
                 "expected no tensor that config.json does not ask for");
    validate(*weights, file.source());
    return weights;
}

} // namespace specdec::reference
