// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/file/json_fields.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/safetensors.hpp>
#include <specdec_engine/file/write_safetensors.hpp>
#include <specdec_engine/learn/read_tensors.hpp>
#include <specdec_engine/learn/reverse/lora.hpp>

/// Adapters as PEFT (Hugging Face) keeps them: a folder of adapter_config.json and
/// adapter_model.safetensors, whose tensors are called
/// base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight.
namespace specdec::engine {

/// Saves adapters; the folder is made where there is none. Each file is replaced whole; the tensors
/// come first. `base_model`: what PEFT's AutoPeftModel loads, a path or a name; may be empty.
/// Errors: specdec::error where a file cannot be written.
inline void save_peft_folder(const std::filesystem::path& folder, const lora<float>& adapters,
                             const std::string& base_model = "") {
    make_folder(folder);
    write_safetensors((folder / "adapter_model.safetensors").string(),
                      tensors_of(adapters.tensors(), adapters.values()));
    const lora_settings& s = adapters.settings();
    nlohmann::json config = {{"peft_type", "LORA"},
                             {"task_type", "CAUSAL_LM"},
                             {"base_model_name_or_path", nullptr},
                             {"inference_mode", true},
                             {"r", s.rank},
                             {"lora_alpha", s.alpha},
                             {"lora_dropout", 0.0},
                             {"bias", "none"},
                             {"fan_in_fan_out", false},
                             {"use_rslora", false},
                             {"use_dora", false},
                             {"target_modules", nlohmann::json::array()}};
    if (!base_model.empty())
        config["base_model_name_or_path"] = base_model;
    if (std::floor(s.alpha) == s.alpha && s.alpha < 1e9)
        config["lora_alpha"] = static_cast<long>(s.alpha); // as PEFT declares it
    for (const projection p : s.targets)
        config["target_modules"].push_back(name(p));
    replace_file((folder / "adapter_config.json").string(), config.dump(2) + "\n");
}

namespace detail {

inline std::vector<projection> peft_targets(const nlohmann::json& config,
                                            const json_fields& fields) {
    if (!fields.has("target_modules") || !config["target_modules"].is_array())
        fields.fail("target_modules", "expected an array of names");
    std::vector<projection> targets;
    for (const nlohmann::json& element : config["target_modules"]) {
        const std::string text = element.is_string() ? element.get<std::string>() : "";
        const auto before = targets.size();
        for (const projection p : all_projections)
            if (text == name(p))
                targets.push_back(p);
        if (targets.size() == before)
            fields.fail("target_modules",
                        "expected projections of a block (q_proj .. down_proj), found " +
                            element.dump());
    }
    return targets;
}

/// What PEFT can and this cannot do is refused, not left out.
inline lora_settings read_peft_config(std::string_view text, const std::string& source) {
    const nlohmann::json config = parse_json(text, source, "file");
    const json_fields fields(config, source, "");
    if (fields.text("peft_type") != "LORA")
        fields.fail("peft_type", "expected LORA, found " + fields.text("peft_type"));
    if (fields.text_or("bias", "none") != "none")
        fields.fail("bias", "expected none: trained biases are not supported");
    for (const char* const flag : {"use_rslora", "use_dora", "fan_in_fan_out", "lora_bias"})
        if (fields.boolean_or(flag, false))
            fields.fail(flag, "expected false: it is not supported");
    for (const char* const more :
         {"rank_pattern", "alpha_pattern", "modules_to_save", "layers_to_transform",
          "layer_replication", "exclude_modules", "target_parameters", "trainable_token_indices",
          "alora_invocation_tokens", "use_qalora", "use_bdlora"})
        if (fields.has(more) && config[more] != false && !config[more].empty())
            fields.fail(more, "expected none: it is not supported");
    // Others (pissa, olora, ...) take the first adapters out of the base model's weights.
    if (fields.has("init_lora_weights") && !config["init_lora_weights"].is_boolean()) {
        const std::string start = fields.text("init_lora_weights");
        if (start != "gaussian" && start != "eva" && start != "orthogonal")
            fields.fail("init_lora_weights",
                        "expected a start that leaves the base model as it is (true, false, "
                        "gaussian, eva or orthogonal), found " +
                            start);
    }
    return {fields.size("r"), fields.number("lora_alpha"), peft_targets(config, fields)};
}

} // namespace detail

/// Adapters of a PEFT folder for a model of that configuration. Tensors of F32, F16 and BF16.
/// Errors: specdec::error naming file and field or tensor, also for what is not supported.
template <class Scalar = float>
[[nodiscard]] lora<Scalar> read_peft_folder(const std::filesystem::path& folder,
                                            const model_config& c) {
    const mapped_file config(folder / "adapter_config.json");
    const lora_settings settings = detail::read_peft_config(config.text(), config.source());
    lora<Scalar> adapters(c, settings, config.source());
    const mapped_file weights(folder / "adapter_model.safetensors");
    expected_tensors tensors(read_safetensors(weights.bytes(), weights.source()), weights.source());
    tensors.expect(adapters.tensors());
    tensors.expect_no_other();
    tensors.read(adapters.tensors(), adapters.values());
    return adapters;
}

} // namespace specdec::engine
