// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/config.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/tensor.hpp>

namespace specdec::engine {

/// A model as its files give it, whatever the format: configuration and tensors under the names
/// that Hugging Face uses ("model.layers.0.self_attn.q_proj.weight"). Tensors keep their own names
/// for messages and view the mappings, which live as long as the checkpoint.
struct checkpoint {
    std::string source;
    model_config config;
    std::unordered_map<std::string, tensor> tensors;
    std::vector<std::shared_ptr<const mapped_file>> files;
    /// What the file's format calls a tensor that is missing; null: as it is called here.
    std::string (*name_in_file)(std::string_view name) = nullptr;

    /// Errors: specdec::error for a name that stands there already.
    void add(const std::string& name, tensor t) {
        const std::string where = t.source;
        const std::string own_name = t.name;
        if (!tensors.emplace(name, std::move(t)).second)
            throw error(where, "tensor " + own_name, "expected each tensor once");
    }
    void add(tensor t) {
        const std::string name = t.name;
        add(name, std::move(t));
    }
    [[nodiscard]] bool has(const std::string& name) const { return tensors.contains(name); }
    /// Errors: specdec::error for a tensor that is missing or has another shape or type than the
    /// configuration asks for.
    [[nodiscard]] const tensor& at(const std::string& name,
                                   std::initializer_list<std::size_t> shape) const {
        const auto found = tensors.find(name);
        if (found == tensors.end())
            throw error(source, "tensor " + (name_in_file ? name_in_file(name) : name),
                        "expected this tensor, it is missing");
        require_shape(found->second, {shape.begin(), shape.size()});
        return found->second;
    }
};

/// Errors: specdec::error for a tensor that is none of those that are `taken`, so a file of 32
/// layers is no model of the 2 that its configuration says. Allowed is what models compute by
/// themselves (tables of rotary frequencies, masks).
inline void require_no_more(const checkpoint& c, const std::set<std::string>& taken) {
    const auto computed = [](std::string_view name) {
        return name.find("rotary_emb.") != name.npos || name.ends_with(".masked_bias");
    };
    const std::string* first = nullptr; // by name, for the same message every time
    for (const auto& [name, t] : c.tensors)
        if (!taken.contains(name) && !computed(name) && (first == nullptr || name < *first))
            first = &name;
    if (first == nullptr)
        return;
    const tensor& t = c.tensors.at(*first);
    throw error(t.source, "tensor " + t.name,
                "expected no tensor beyond those of the configuration, of " +
                    std::to_string(c.config.layers) + " layer" + (c.config.layers > 1 ? "s" : ""));
}

/// The tensors of a model that no block and no product reads: a head of its own where it is the
/// embedding, and the rotary factors, which are in the configuration.
inline std::set<std::string> unread_tensors(const model_config& c) {
    std::set<std::string> names;
    if (c.tied)
        names.insert("lm_head.weight");
    if (!c.rotary.factors.empty())
        names.insert("rope_freqs.weight");
    return names;
}

/// The norms that exits have of their own before the head (exits.0.norm.weight, ...), under these
/// names; none where all exits have the model's. They view the checkpoint's files.
[[nodiscard]] inline std::vector<tensor> exit_norms(const checkpoint& c) {
    std::vector<tensor> norms;
    for (std::size_t i = 0; i + 1 < c.config.exits.size(); ++i) {
        const std::string name = "exits." + std::to_string(i) + ".norm.weight";
        if (!c.has(name))
            continue;
        norms.push_back(c.at(name, {c.config.dimension}));
        norms.back().name = name;
    }
    return norms;
}

} // namespace specdec::engine
