// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/write_safetensors.hpp>
#include <specdec_engine/learn/features/feature_parameters.hpp>
#include <specdec_engine/learn/model_folder.hpp>

namespace specdec::engine {

/// Saves a body that was learnt as EAGLE's folder: model.safetensors (F32), then config.json, each
/// replaced whole; the folder is made where there is none. Lists of tokens and routers are the
/// caller's to copy. Errors: specdec::error where a file cannot be written, and as check_saveable.
inline void save_feature_folder(const std::filesystem::path& folder,
                                const feature_parameters<float>& m) {
    check_saveable(m.config(), folder.string());
    make_folder(folder);
    write_safetensors((folder / "model.safetensors").string(),
                      tensors_of(m.layout().tensors(), m.values()));
    nlohmann::json config = detail::hf_config(m.config());
    config["bias"] = m.layout().has_bias();
    replace_file((folder / "config.json").string(), config.dump(2) + "\n");
}

} // namespace specdec::engine
