// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::ranges::any_of
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec/head/token_list.hpp>
#include <specdec_engine/drafter/feature_weights.hpp>
#include <specdec_engine/drafter/speculators_config.hpp>
#include <specdec_engine/drafter/token_list_file.hpp>
#include <specdec_engine/file/hf_checkpoint.hpp>
#include <specdec_engine/transformer/pack.hpp>

namespace specdec::engine {

/// A drafter's folder, open: configuration and tensors.
struct feature_checkpoint {
    checkpoint files;
    feature_kind kind = feature_kind::head_input;
    std::size_t draft_vocabulary = 0; ///< rows of its own head; 0: the target's
    std::string block = "layers.0.";  ///< what the names of its block's tensors begin with
    feature_norms norms;
    std::optional<std::array<std::size_t, 3>> taken; ///< blocks before which features are taken
    std::optional<token_list<draft_id>> kept;        ///< rows of its own head, where d2t is not in
                                                     ///< offsets
};

/// Whether a folder is that of a drafter that reads features: its model.safetensors has
/// `fc.weight`, which no transformer has, or `model.fc.weight`, which is refused later. Errors:
/// specdec::error for a file that cannot be read.
[[nodiscard]] inline bool is_feature_folder(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "model.safetensors";
    if (!is_folder(folder) || !is_there(path))
        return false;
    const mapped_file file(path);
    return std::ranges::any_of(read_safetensors(file.bytes(), file.source()), [](const tensor& t) {
        return t.name == "fc.weight" || t.name == "model.fc.weight";
    });
}

namespace detail {

/// The architecture whose rules the block's configuration follows. EAGLE-3 names one of its own,
/// which is a Llama's, unless the model type says whose windows it has.
inline std::string architecture_of(const nlohmann::json& json, const json_fields& fields) {
    const std::string type = fields.text_or("model_type", "llama");
    for (const auto& [of_type, name] :
         {std::pair{"qwen2", "Qwen2ForCausalLM"}, std::pair{"mistral", "MistralForCausalLM"}})
        if (type == of_type || (json.contains("architectures") &&
                                json["architectures"] == nlohmann::json::array({name})))
            return name;
    return "LlamaForCausalLM";
}

inline void add_features(checkpoint& c, const std::filesystem::path& folder) {
    add_safetensors(c, folder / "model.safetensors");
    if (c.has("model.fc.weight"))
        throw error(c.files.back()->source(), "tensor model.fc.weight",
                    "expected fc.weight: this looks like a drafter that reads features, saved with "
                    "`model.` before its tensors' names");
}

} // namespace detail

/// Opens the folder of a drafter that reads features: config.json, as EAGLE or as speculators has
/// it, and model.safetensors. Errors: specdec::error naming file and field.
[[nodiscard]] inline feature_checkpoint open_feature_folder(const std::filesystem::path& folder) {
    const mapped_file config(folder / "config.json");
    nlohmann::json json = parse_json(config.text(), config.source(), "file");
    const json_fields fields(json, config.source(), "");
    feature_checkpoint c;
    c.files.source = folder.string();
    if (is_speculators_config(json)) {
        const speculators_config of = read_speculators_config(config.text(), config.source());
        c.files.config = of.block;
        c.kind = feature_kind::low_mid_high;
        c.draft_vocabulary = of.draft_vocabulary;
        c.norms = of.norms;
        c.taken = of.taken;
        detail::add_features(c.files, folder);
        if (of.own_embedding)
            (void)c.files.at("embed_tokens.weight",
                             {c.files.config.vocabulary_size, c.files.config.dimension});
        return c;
    }
    json["architectures"] = nlohmann::json::array({detail::architecture_of(json, fields)});
    c.files.config = read_hf_config(json.dump(), config.source());
    require_no_closing_window(c.files.config, config.source(), "sliding_window");
    c.files.config.qkv_bias = false; // whichever architecture
    if (c.files.config.layers != 1)
        fields.fail("num_hidden_layers", "expected 1, as drafters that read features have");
    detail::add_features(c.files, folder);
    if (fields.has("eagle_config")) // NVIDIA's files name there what others name in json itself
        json.update(nlohmann::json(fields.object("eagle_config")));
    const json_fields eagle(json, config.source(), "");
    if (c.files.has("midlayer.self_attn.q_proj.weight")) {
        c.kind = feature_kind::low_mid_high;
        c.block = "midlayer.";
        c.draft_vocabulary = fields.size_or("draft_vocab_size", c.files.config.vocabulary_size);
        c.norms = read_feature_norms(eagle);
        if (eagle.has(taken_layers))
            c.taken = three_blocks(eagle.sizes(taken_layers), config.source(), taken_layers);
    } else if (c.files.has("layers.0.input_layernorm.weight")) {
        throw error(c.files.source, "tensor layers.0.input_layernorm.weight",
                    "expected none: attention reads what fc gives");
    } else {
        require_no_feature_norms(eagle);
    }
    return c;
}

namespace detail {

/// The tokens of an own head's rows: all, or those of d2t.
inline token_list<draft_id> kept_tokens(const feature_checkpoint& c) {
    const std::size_t vocabulary = c.files.config.vocabulary_size;
    if (c.kept)
        return *c.kept;
    if (c.files.has("d2t") || c.draft_vocabulary != vocabulary)
        return parse_token_list<draft_id>(c.files.files.front()->bytes(), vocabulary,
                                          c.files.files.front()->source());
    (void)c.files.at("lm_head.weight", {vocabulary, c.files.config.dimension}); // before memory
    return every_token<draft_id>(vocabulary);
}

/// Whether a packed matrix holds a tensor's rows.
template <NumberFormat Format>
[[nodiscard]] bool holds_rows(const matrix_of<Format>& packed, const tensor& t) {
    matrix_of<Format> one;
    const auto memory = allocate_matrices<Format>(
        [&](const auto& take) { one = take(1, t.columns(), dtype::q8_0); });
    std::vector<float> row(t.columns()), held(t.columns());
    for (std::size_t r = 0; r < t.rows(); ++r) {
        read_weights(t, r, row);
        packed.read_row(r, held);
        if (row == held) // also of types that are kept as they are
            continue;
        one.write_row(0, row);
        one.read_row(0, row);
        if (row != held)
            return false;
    }
    return true;
}

/// What a drafter's files may have beyond its body: what is the target's, and the lists of tokens.
inline std::set<std::string> shared_tensors(feature_kind kind) {
    if (kind == feature_kind::head_input)
        return {"embed_tokens.weight", "lm_head.weight"};
    return {"embed_tokens.weight", "verifier_lm_head.weight", "verifier_norm.weight", "d2t", "t2d"};
}

} // namespace detail

/// Reads and packs the weights; of what else may be in the files (shared_tensors) the target's is
/// taken, as is its embedding where the drafter's is a copy of it. target: null: an embedding is
/// the drafter's own. All tensors are checked before memory is taken. Errors: specdec::error naming
/// file and tensor, also for one that the form does not have.
template <NumberFormat Format>
[[nodiscard]] std::shared_ptr<const feature_weights<Format>>
pack_features(const feature_checkpoint& c, std::size_t threads = 0,
              const model_weights<Format>* target = nullptr) {
    auto w = std::make_shared<feature_weights<Format>>();
    w->config = c.files.config;
    w->kind = c.kind;
    w->norms = c.norms;
    const std::size_t d = w->config.dimension;
    const bool own_head = c.kind == feature_kind::low_mid_high;
    if (own_head) {
        w->kept = detail::kept_tokens(c);
        if (w->kept->size() != c.draft_vocabulary)
            throw error(c.files.source, "tensor d2t",
                        "expected draft_vocab_size (" + std::to_string(c.draft_vocabulary) +
                            ") values, found " + std::to_string(w->kept->size()));
    }
    detail::tensor_packer<Format> tensors(c.files);
    const auto ask = [&](feature_weights<Format>* to) {
        const auto place = [&](auto feature_weights<Format>::*part) {
            return to != nullptr ? &(to->*part) : nullptr;
        };
        tensors.matrix("fc.weight", {d, w->fuse_columns()}, place(&feature_weights<Format>::fuse));
        constexpr const char* embedding = "embed_tokens.weight";
        if (c.files.has(embedding))
            tensors.matrix(embedding, {w->config.vocabulary_size, d},
                           w->own_embedding ? place(&feature_weights<Format>::embedding) : nullptr);
        tensors.block(c.block, w->attention_columns(), place(&feature_weights<Format>::block));
        if (c.files.has("fc.bias")) {
            if (to != nullptr)
                to->fuse_bias.resize(round_up(d, panel_rows));
            tensors.vector("fc.bias", d, place(&feature_weights<Format>::fuse_bias));
        }
        if (!own_head)
            return;
        tensors.norm(c.block + "input_layernorm.weight", d,
                     place(&feature_weights<Format>::token_norm));
        tensors.norm(c.block + "hidden_norm.weight", d,
                     place(&feature_weights<Format>::feature_norm));
        tensors.norm("norm.weight", d, place(&feature_weights<Format>::final_norm));
        if (w->norms.before_fc == fuse_norm::whole)
            tensors.norm("input_norm.weight", 3 * d, to ? &to->fuse_norms[0] : nullptr);
        else if (w->norms.before_fc == fuse_norm::each)
            for (std::size_t i = 0; i < 3; ++i)
                tensors.norm("fc_norm." + std::to_string(i) + ".weight", d,
                             to ? &to->fuse_norms[i] : nullptr);
        tensors.matrix("lm_head.weight", {w->kept->size(), d},
                       place(&feature_weights<Format>::head));
    };
    ask(nullptr);
    tensors.require_no_more(detail::shared_tensors(c.kind));
    if (const auto own = c.files.tensors.find("embed_tokens.weight"); own != c.files.tensors.end())
        w->own_embedding = target == nullptr || target->embedding.rows() != own->second.rows() ||
                           target->embedding.columns() != own->second.columns() ||
                           !detail::holds_rows<Format>(target->embedding, own->second);
    w->allocate();
    ask(w.get());
    tensors.run(threads, {});
    return w;
}

} // namespace specdec::engine
