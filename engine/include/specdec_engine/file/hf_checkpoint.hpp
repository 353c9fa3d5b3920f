// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <specdec_engine/file/checkpoint.hpp>
#include <specdec_engine/file/hf_config.hpp>
#include <specdec_engine/file/safetensors.hpp>

namespace specdec::engine {

namespace detail {

inline void add_safetensors(checkpoint& c, const std::filesystem::path& path) {
    c.files.push_back(std::make_shared<const mapped_file>(path));
    for (tensor& t : read_safetensors(c.files.back()->bytes(), c.files.back()->source()))
        c.add(std::move(t));
}

/// The shards that an index names. Errors: specdec::error for a tensor in another one than it says.
inline void add_shards(checkpoint& c, const std::filesystem::path& folder,
                       const std::filesystem::path& index) {
    const mapped_file file(index);
    const std::map<std::string, std::string> shards = tensor_shards(file.text(), file.source());
    std::set<std::string> each;
    for (const auto& [name, shard] : shards)
        if (each.insert(shard).second)
            add_safetensors(c, folder / shard);
    for (const auto& [name, t] : c.tensors)
        if (const auto said = shards.find(name);
            said != shards.end() && t.source != (folder / said->second).string())
            throw error(t.source, "tensor " + name,
                        "expected in " + said->second + ", as " + file.source() + " says");
}

} // namespace detail

/// A Hugging Face folder: config.json, generation_config.json (optional), and model.safetensors or,
/// where there is none, the shards that model.safetensors.index.json names.
[[nodiscard]] inline checkpoint open_hf_folder(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    checkpoint c;
    c.source = folder.string();
    const mapped_file config(folder / "config.json");
    c.config = read_hf_config(config.text(), config.source());
    if (is_there(folder / "generation_config.json")) {
        const mapped_file generation(folder / "generation_config.json");
        for (const std::int32_t id : read_generation_eos(generation.text(), generation.source()))
            if (std::find(c.config.eos.begin(), c.config.eos.end(), id) == c.config.eos.end())
                c.config.eos.push_back(id);
    }
    const fs::path whole = folder / "model.safetensors";
    const fs::path index = folder / "model.safetensors.index.json";
    // As Transformers choose: a model that is saved beside old shards is the one that is meant.
    if (is_there(whole) || !is_there(index)) {
        detail::add_safetensors(c, whole);
    } else {
        detail::add_shards(c, folder, index);
    }
    // As Transformers, too: whatever the configuration says, a head of its own is not tied.
    if (const auto head = c.tensors.find("lm_head.weight");
        c.config.tied && head != c.tensors.end())
        if (const auto rows = c.tensors.find("model.embed_tokens.weight"); rows != c.tensors.end())
            c.config.tied = std::ranges::equal(head->second.bytes, rows->second.bytes);
    return c;
}

} // namespace specdec::engine
