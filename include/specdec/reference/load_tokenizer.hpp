// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec/reference/file/gguf.hpp>
#include <specdec/reference/file/json_fields.hpp>
#include <specdec/reference/file/mapped_file.hpp>
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
    const auto read = [&folder](const char* name, auto&& reader) {
        const mapped_file file(folder / name);
        return reader(file.text(), file.source());
    };
    const auto has = [&folder](const char* name) { return is_there(folder / name); };
    if (!has("tokenizer.json") && !has("tokenizer.model"))
        throw error(folder.string(), "folder", "expected tokenizer.json or tokenizer.model");
    using text = std::string_view;
    using path = const std::string&;
    const bool json = has("tokenizer.json");
    std::optional<mapped_file> config;
    if (has("tokenizer_config.json"))
        config.emplace(folder / "tokenizer_config.json");
    tokenizer_parts parts =
        json ? read("tokenizer.json",
                    [&](text t, path p) {
                        nlohmann::json document = parse_json(t, p, "file");
                        if (config)
                            tokenizer_config_reader::lay_over(config->text(), config->source(),
                                                              document);
                        return tokenizer_json_reader::read(document, p);
                    })
             : read("tokenizer.model",
                    [](text t, path p) { return sentencepiece_reader::read(t, p); });
    if (has("added_tokens.json"))
        read("added_tokens.json", [&parts](text t, path p) {
            tokenizer_config_reader::require_no_added_tokens(t, p, parts);
        });
    if (config && !json)
        tokenizer_config_reader::require_no_added_decoder(config->text(), config->source(), parts);
    if (config)
        tokenizer_config_reader::read_tokenizer_config(config->text(), config->source(), parts);
    for (const char* name : {"generation_config.json", "config.json"})
        if (has(name))
            read(name, [&parts](text t, path p) {
                tokenizer_config_reader::read_model_config(t, p, parts);
            });
    return tokenizer(std::move(parts));
}

/// The tokenizer at a path: a Hugging Face folder, a GGUF file, a tokenizer.json, a SentencePiece
/// .model or a tokenizer .bin of llama2.c.
/// Errors: specdec::error that names file and field.
[[nodiscard]] inline tokenizer load_tokenizer(const std::filesystem::path& path) {
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

} // namespace specdec::reference
