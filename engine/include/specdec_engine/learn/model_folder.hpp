// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/write_safetensors.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>

namespace specdec::engine {

namespace detail {

/// What read_hf_config reads as the same configuration, and Transformers too.
inline nlohmann::json hf_config(const model_config& c) {
    const bool qwen = c.qkv_bias;
    nlohmann::json out = {{"architectures", {qwen ? "Qwen2ForCausalLM" : "LlamaForCausalLM"}},
                          {"model_type", qwen ? "qwen2" : "llama"},
                          {"hidden_size", c.dimension},
                          {"num_hidden_layers", c.layers},
                          {"num_attention_heads", c.heads},
                          {"num_key_value_heads", c.kv_heads},
                          {"head_dim", c.head_dimension},
                          {"intermediate_size", c.hidden_dimension},
                          {"vocab_size", c.vocabulary_size},
                          {"max_position_embeddings", c.context},
                          {"rms_norm_eps", c.rms_epsilon},
                          {"hidden_act", "silu"},
                          {"tie_word_embeddings", c.tied},
                          {"rope_theta", c.rotary.theta},
                          {"torch_dtype", "float32"},
                          {"bos_token_id", nullptr},
                          {"eos_token_id", nullptr}};
    if (c.bos >= 0)
        out["bos_token_id"] = c.bos;
    if (c.eos.size() == 1)
        out["eos_token_id"] = c.eos[0];
    else if (!c.eos.empty())
        out["eos_token_id"] = c.eos;
    if (qwen)
        out["use_sliding_window"] = false;
    if (c.trained_context > 0)
        out["trained_context"] = c.trained_context;
    if (!c.exits.empty())
        out["specdec_exits"] = c.exits;
    if (c.rotary.linear != 1.0)
        out["rope_scaling"] = {{"rope_type", "linear"}, {"factor", c.rotary.linear}};
    if (const llama3_scaling& s = c.rotary.llama3; c.rotary.scaled)
        out["rope_scaling"] = {
            {"rope_type", "llama3"},
            {"factor", s.factor},
            {"low_freq_factor", s.low_frequency_factor},
            {"high_freq_factor", s.high_frequency_factor},
            {"original_max_position_embeddings", static_cast<std::size_t>(s.original_context)}};
    return out;
}

} // namespace detail

/// Errors: specdec::error for rotary factors of a GGUF file (rope_freqs), which a config.json has
/// no place for. To be asked before a model learns that is to be saved.
inline void check_saveable(const model_config& c, const std::string& where) {
    if (!c.rotary.factors.empty())
        throw error(where, "rope_freqs", "expected none: config.json has no place for them");
}

/// Saves a model that was learnt as a Hugging Face folder: model.safetensors (F32), then
/// config.json, each replaced whole; the folder is made where there is none. Tokenizer files are
/// the caller's to copy. `more`: tensors of the model that do not learn (exit_norms). Errors:
/// specdec::error where a file cannot be written, and as check_saveable.
inline void save_model_folder(const std::filesystem::path& folder, const model_parameters<float>& m,
                              std::span<const tensor> more = {}) {
    check_saveable(m.config(), folder.string());
    make_folder(folder);
    std::vector<tensor> tensors = tensors_of(m.layout().tensors(), m.values());
    tensors.insert(tensors.end(), more.begin(), more.end());
    write_safetensors((folder / "model.safetensors").string(), tensors);
    replace_file((folder / "config.json").string(), detail::hf_config(m.config()).dump(2) + "\n");
}

} // namespace specdec::engine
