// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/head/token_list.hpp>
#include <specdec_engine/drafter/feature_checkpoint.hpp>
#include <specdec_engine/file/gguf.hpp>
#include <specdec_engine/file/gguf_checkpoint.hpp>

/// GGUF files of the eagle3 architecture, as llama.cpp has it: d2t holds ids, not offsets; layers
/// are named by their inputs; q and k are interleaved.
namespace specdec::engine {

namespace detail {

inline constexpr tensor_names eagle3_names[] = {
    {"fc.weight", "fc.weight"},
    {"enc.output_norm.weight", "input_norm.weight"},
    {"blk.0.attn_norm_2.weight", "layers.0.hidden_norm.weight"}};

/// "blk.0.attn_norm_2.weight" -> "layers.0.hidden_norm.weight"; "" for what it does not have.
[[nodiscard]] inline std::string eagle3_name(std::string_view name) {
    for (const tensor_names& names : eagle3_names)
        if (name == names.gguf)
            return std::string(names.hf);
    const std::string hf = hf_name(name);
    constexpr std::string_view prefix = "model.";
    return hf.starts_with(prefix) ? hf.substr(prefix.size()) : hf;
}
/// The way back.
[[nodiscard]] inline std::string eagle3_gguf_name(std::string_view name) {
    for (const tensor_names& names : eagle3_names)
        if (name == names.hf)
            return std::string(names.gguf);
    const std::string whole = gguf_name(name);
    return whole.empty() ? gguf_name("model." + std::string(name)) : whole;
}

inline std::size_t eagle3_vocabulary(const gguf_file& file) {
    for (const tensor& t : file.tensors())
        if (t.name == "token_embd.weight")
            return t.rows();
    if (const gguf_value* const tokens = file.find("tokenizer.ggml.tokens"))
        return tokens->size();
    return gguf_size(file, "eagle3.vocab_size");
}

} // namespace detail

/// The drafter of a file of the eagle3 architecture. Its tensors view the file's mapping (or the
/// bytes it was made of). Errors: specdec::error naming file and key or tensor, also for what the
/// engine does not compute: a target of another width, the target's head in place of one of its
/// own.
[[nodiscard]] inline feature_checkpoint open_gguf_features(const gguf_file& file) {
    const std::string& source = file.source();
    const auto refuse = [&](const std::string& field, const std::string& expected) {
        throw error(source, field, expected);
    };
    feature_checkpoint c;
    c.kind = feature_kind::low_mid_high;
    c.files.source = source;
    c.files.name_in_file = &detail::eagle3_gguf_name;
    c.files.config = read_gguf_config(file, {"eagle3"});
    require_no_closing_window(c.files.config, source, "eagle3.attention.sliding_window");
    c.files.config.vocabulary_size = detail::eagle3_vocabulary(file);
    if (c.files.config.layers != 1)
        refuse("eagle3.block_count", "expected 1");
    const auto flag = [&](const char* key) {
        const gguf_value* const value = file.find(key);
        return value != nullptr && value->boolean();
    };
    c.norms = {flag("eagle3.norm_before_fc") ? fuse_norm::whole : fuse_norm::none,
               flag("eagle3.norm_before_residual"), flag("eagle3.norm_output")};
    if (flag("eagle3.fc_norm"))
        refuse("eagle3.fc_norm", "expected false: the format has no tensors for it");
    if (detail::gguf_size_or(file, "eagle3.target_hidden_size", c.files.config.dimension) !=
        c.files.config.dimension)
        refuse("eagle3.target_hidden_size",
               "expected the drafter's " + std::to_string(c.files.config.dimension));
    for (const char* const key : {"eagle3.target_layers", "eagle3.extract_layers"})
        if (const gguf_value* const layers = file.find(key); layers != nullptr && !c.taken) {
            std::vector<std::size_t> ids;
            for (const std::int64_t id : layers->integers())
                ids.push_back(id < 0 ? ~std::size_t{0} : static_cast<std::size_t>(id));
            c.taken = three_blocks(ids, source, key);
        }
    if (!c.taken)
        refuse("eagle3.target_layers", "expected this metadata key, it is missing");

    c.files.files = file.mappings();
    std::vector<draft_id> kept;
    for (const tensor& t : file.tensors()) {
        if (t.name == "d2t") {
            for (const std::int64_t id : read_integers(t)) {
                if (id < 0 || static_cast<std::uint64_t>(id) >= c.files.config.vocabulary_size)
                    refuse("tensor d2t", "expected ids below " +
                                             std::to_string(c.files.config.vocabulary_size) +
                                             ", found " + std::to_string(id));
                kept.push_back(id_at<draft_id>(static_cast<std::size_t>(id)));
            }
            continue;
        }
        if (const std::string name = detail::eagle3_name(t.name); !name.empty())
            c.files.add(name, t);
        else if (t.name != "t2d")
            refuse("tensor " + t.name, "expected a tensor of the eagle3 architecture");
    }
    if (c.files.has("rope_freqs.weight"))
        refuse("tensor rope_freqs.weight", "expected none: it is not supported");
    if (!c.files.has("lm_head.weight"))
        refuse("tensor output.weight", "expected this tensor: the target's head is not supported");
    c.draft_vocabulary = kept.empty() ? c.files.config.vocabulary_size : kept.size();
    if (!kept.empty())
        c.kept.emplace(std::move(kept), c.files.config.vocabulary_size, source);
    c.files.config.tied = false;
    check(c.files.config, source);
    return c;
}

/// Whether a path is that of a drafter that reads features: a folder, or a GGUF file of the eagle3
/// architecture. Errors: specdec::error for a file that cannot be read.
[[nodiscard]] inline bool is_feature_drafter(const std::filesystem::path& path) {
    if (is_folder(path))
        return is_feature_folder(path);
    if (path.extension() != ".gguf" || !is_there(path))
        return false;
    const gguf_file file(path);
    const gguf_value* const architecture = file.find("general.architecture");
    return architecture != nullptr && architecture->type() == gguf_type::string &&
           architecture->string() == "eagle3";
}

/// Opens either. Errors: as open_feature_folder and open_gguf_features.
[[nodiscard]] inline feature_checkpoint open_feature_drafter(const std::filesystem::path& path) {
    return is_folder(path) ? open_feature_folder(path) : open_gguf_features(gguf_file(path));
}

} // namespace specdec::engine
