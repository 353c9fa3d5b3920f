// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec/reference/file/gguf.hpp>
#include <specdec/reference/file/json_fields.hpp>
#include <specdec/reference/file/mapped_file.hpp>
#include <specdec/reference/team/compiled_once.hpp>
#include <specdec/reference/tokenizer/file/gguf_tokenizer.hpp>
#include <specdec/reference/tokenizer/file/llama2c_tokenizer.hpp>
#include <specdec/reference/tokenizer/file/sentencepiece_model.hpp>
#include <specdec/reference/tokenizer/file/tokenizer_config.hpp>
#include <specdec/reference/tokenizer/file/tokenizer_json.hpp>
#include <specdec/reference/tokenizer/tokenizer.hpp>

namespace specdec::reference {

/// The tokenizer of a Hugging Face folder: tokenizer.json or else tokenizer.model, with the special
/// tokens that tokenizer_config.json, generation_config.json and config.json name.
/// Errors: specdec::error that names file and field, also for tokens that were added beside it.
[[nodiscard]] inline tokenizer load_tokenizer_folder(const std::filesystem::path& folder) {
    const auto has = [&folder](const char* name) { return is_there(folder / name); };
    const auto parsed = [&folder](const char* name) {
        const mapped_file file(folder / name);
        return parse_json(file.text(), file.source(), "file");
    };
    const auto source = [&folder](const char* name) { return (folder / name).string(); };
    const bool json = has("tokenizer.json");
    if (!json && !has("tokenizer.model"))
        throw error(folder.string(), "folder", "expected tokenizer.json or tokenizer.model");
    using from = tokenizer_config_reader;
    const std::string config_source = source("tokenizer_config.json");
    std::optional<nlohmann::json> config;
    if (has("tokenizer_config.json"))
        config = parsed("tokenizer_config.json");
    tokenizer_parts parts;
    if (json) {
        nlohmann::json document = parsed("tokenizer.json");
        if (config)
            from::lay_over(*config, config_source, document);
        parts = tokenizer_json_reader::read(document, source("tokenizer.json"));
    } else {
        const mapped_file file(folder / "tokenizer.model");
        parts = sentencepiece_reader::read(file.text(), file.source());
    }
    if (has("added_tokens.json"))
        from::require_no_added_tokens(parsed("added_tokens.json"), source("added_tokens.json"),
                                      parts);
    if (config && !json)
        from::require_no_added_decoder(*config, config_source, parts);
    if (config)
        from::read_tokenizer_config(*config, config_source, parts);
    for (const char* name : {"generation_config.json", "config.json"})
        if (has(name))
            from::read_model_config(parsed(name), source(name), parts);
    return tokenizer(std::move(parts));
}

/// The tokenizer at a path: a Hugging Face folder, a GGUF file, a tokenizer.json, a SentencePiece
/// .model or a tokenizer .bin of llama2.c.
/// Errors: specdec::error that names file and field.
template <std::same_as<tokenizer> Tokenizer = tokenizer>
[[nodiscard]] Tokenizer load_tokenizer(const std::filesystem::path& path) {
    if (is_folder(path))
        return load_tokenizer_folder(path);
    const mapped_file file(path);
    const std::string_view text = file.text();
    if (text.starts_with("GGUF"))
        return read_gguf_tokenizer(gguf_file(file.bytes(), file.source()));
    const std::string kind = path.extension().string();
    if (kind == ".json")
        return read_tokenizer_json(text, file.source());
    if (kind == ".model")
        return read_sentencepiece_model(text, file.source());
    if (kind == ".bin")
        return read_llama2c_tokenizer(text, file.source());
    throw error(file.source(), "file", "expected a folder, .gguf, .json, .model or .bin");
}
SPECDEC_ONCE(tokenizer load_tokenizer(const std::filesystem::path&));

} // namespace specdec::reference
