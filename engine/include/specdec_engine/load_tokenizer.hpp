// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/gguf.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/parse_json.hpp>
#include <specdec_engine/team/compiled_once.hpp>
#include <specdec_engine/tokenizer/file/gguf_tokenizer.hpp>
#include <specdec_engine/tokenizer/file/llama2c_tokenizer.hpp>
#include <specdec_engine/tokenizer/file/sentencepiece_model.hpp>
#include <specdec_engine/tokenizer/file/tokenizer_config.hpp>
#include <specdec_engine/tokenizer/file/tokenizer_json.hpp>
#include <specdec_engine/tokenizer/tokenizer.hpp>

namespace specdec::engine {

/// Whether a name is that of a SentencePiece model: NAME.model, and NAME.model.v3 as Mistral names
/// its versions.
[[nodiscard]] inline bool is_sentencepiece_name(const std::filesystem::path& name) {
    const std::string version = name.extension().string();
    return version == ".model" ||
           (name.stem().extension() == ".model" && version.size() > 2 && version[1] == 'v' &&
            version.find_first_not_of("0123456789", 2) == version.npos);
}

/// The SentencePiece model of a folder without a tokenizer.json: tokenizer.model, or else the only
/// version of it. Errors: specdec::error where there is none, or several versions.
[[nodiscard]] inline std::filesystem::path sentencepiece_in(const std::filesystem::path& folder) {
    if (is_there(folder / "tokenizer.model"))
        return folder / "tokenizer.model";
    std::optional<std::filesystem::path> found;
    std::error_code code;
    for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end;
         at.increment(code)) {
        const std::filesystem::path name = at->path().filename();
        if (!name.string().starts_with("tokenizer.model.") || !is_sentencepiece_name(name))
            continue;
        if (found)
            throw error(folder.string(), "folder",
                        "expected one tokenizer, found " + found->string() + " and " +
                            name.string());
        found = name;
    }
    if (!found)
        throw error(folder.string(), "folder", "expected tokenizer.json or tokenizer.model");
    return folder / *found;
}

/// The tokenizer of a Hugging Face folder: tokenizer.json or else a SentencePiece model
/// (sentencepiece_in), with the special tokens that tokenizer_config.json, generation_config.json
/// and config.json name.
/// Errors: specdec::error that names file and field, also for tokens that were added beside it.
[[nodiscard]] inline tokenizer load_tokenizer_folder(const std::filesystem::path& folder) {
    const auto has = [&folder](const char* name) { return is_there(folder / name); };
    const auto parsed = [&folder](const char* name) {
        const mapped_file file(folder / name);
        return parse_json(file.text(), file.source(), "file");
    };
    const auto source = [&folder](const char* name) { return (folder / name).string(); };
    const bool json = has("tokenizer.json");
    const std::filesystem::path pieces = json ? "" : sentencepiece_in(folder);
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
        const mapped_file file(pieces);
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
    const auto mapped = std::make_shared<const mapped_file>(path);
    const mapped_file& file = *mapped;
    const std::string_view text = file.text();
    if (text.starts_with("GGUF"))
        return read_gguf_tokenizer(gguf_file(mapped));
    const std::string kind = path.extension().string();
    if (kind == ".json")
        return read_tokenizer_json(text, file.source());
    if (is_sentencepiece_name(path.filename()))
        return read_sentencepiece_model(text, file.source());
    if (kind == ".bin")
        return read_llama2c_tokenizer(text, file.source());
    throw error(file.source(), "file", "expected a folder, .gguf, .json, .model or .bin");
}
SPECDEC_ONCE(tokenizer load_tokenizer(const std::filesystem::path&));

/// The tokenizer at a path, for a model whose embedding has so many rows: without the tokens behind
/// the last row, which the model can neither read nor write (Gemma 3 names one more than it has).
/// Fewer tokens than rows are no error: the rest of the rows is padding.
/// Errors: specdec::error as above, and where a token behind the last row is text.
[[nodiscard]] inline tokenizer load_tokenizer(const std::filesystem::path& path, std::size_t rows) {
    return load_tokenizer(path).first_tokens(rows, path.string());
}

} // namespace specdec::engine
