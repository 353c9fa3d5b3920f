// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec_engine/drafter/feature_norms.hpp>
#include <specdec_engine/file/config.hpp>
#include <specdec_engine/file/hf_config.hpp>
#include <specdec_engine/file/json_fields.hpp>

namespace specdec::engine {

/// What a config.json of speculators says of an EAGLE-3 drafter.
struct speculators_config {
    model_config block; ///< of transformer_layer_config
    std::size_t draft_vocabulary = 0;
    feature_norms norms;
    bool own_embedding = false; ///< its embedding learnt, too: it is not the target's
    /// The blocks of the target before which features are taken; none: as EAGLE-3 takes them.
    std::optional<std::array<std::size_t, 3>> taken;
};

/// Whether a config.json is one of speculators.
[[nodiscard]] inline bool is_speculators_config(const nlohmann::json& json) {
    return json.is_object() &&
           (json.contains("speculators_model_type") || json.contains("speculators_config"));
}

/// Three blocks, of a field that names them.
[[nodiscard]] inline std::array<std::size_t, 3> three_blocks(const std::vector<std::size_t>& ids,
                                                             const std::string& source,
                                                             const std::string& field) {
    if (ids.size() != 3)
        throw error(source, field, "expected 3 layers, found " + std::to_string(ids.size()));
    return {ids[0], ids[1], ids[2]};
}

/// The field of such blocks in a config.json.
inline constexpr const char* taken_layers = "eagle_aux_hidden_state_layer_ids";

/// Errors: specdec::error naming file and field, also for what the engine does not compute: another
/// model type, a target of another width.
[[nodiscard]] inline speculators_config read_speculators_config(std::string_view text,
                                                                const std::string& source) {
    const nlohmann::json json = parse_json(text, source, "file");
    const json_fields fields(json, source, "");
    if (const std::string type = fields.text("speculators_model_type"); type != "eagle3")
        fields.fail("speculators_model_type", "expected eagle3, found " + type);

    nlohmann::json layer = fields.object("transformer_layer_config");
    const json_fields of_layer(layer, source, "transformer_layer_config");
    if (const std::string type = of_layer.text_or("model_type", "llama"); type != "llama")
        of_layer.fail("model_type", "expected llama, found " + type);
    if (of_layer.size_or("num_hidden_layers", 1) != 1)
        of_layer.fail("num_hidden_layers", "expected 1");
    layer["num_hidden_layers"] = 1;
    layer["architectures"] = {"LlamaForCausalLM"};

    speculators_config c;
    c.block = read_hf_config(layer.dump(), source + ": transformer_layer_config");
    require_no_closing_window(c.block, source + ": transformer_layer_config", "sliding_window");
    c.block.trained_context = detail::trained_context_of(fields, c.block.context, source);
    c.draft_vocabulary = fields.size("draft_vocab_size");
    if (!fields.has("norm_before_residual")) // without it nearly nothing would be accepted
        fields.fail("norm_before_residual", "expected true or false, it is missing");
    c.norms = read_feature_norms(fields);
    c.own_embedding = fields.boolean_or("embed_requires_grad", false);
    if (fields.size_or("target_hidden_size", c.block.dimension) != c.block.dimension)
        fields.fail("target_hidden_size",
                    "expected the drafter's " + std::to_string(c.block.dimension));
    if (fields.has(taken_layers))
        c.taken = three_blocks(fields.sizes(taken_layers), source, taken_layers);
    return c;
}

} // namespace specdec::engine
