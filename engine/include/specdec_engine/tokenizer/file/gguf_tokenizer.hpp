// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::find
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/gguf.hpp>
#include <specdec_engine/tokenizer/bpe_builder.hpp>
#include <specdec_engine/tokenizer/byte_level.hpp>
#include <specdec_engine/tokenizer/file/scored_pieces.hpp>
#include <specdec_engine/tokenizer/pre_token_patterns.hpp>

namespace specdec::engine {

/// Reads the tokenizer from a GGUF file's metadata: model "gpt2" (byte-level, merges, a named
/// pre-tokenizer) or "llama" (scored pieces). llama.cpp is the reference: it goes by names where
/// files in the field have the wrong type for a token that ends a sequence, or no key for it.
/// Errors: specdec::error that names file and key.
class gguf_tokenizer_reader {
public:
    [[nodiscard]] static tokenizer_parts read(const gguf_file& file) {
        return gguf_tokenizer_reader(file).read_all();
    }

private:
    static constexpr const char* tokens_key = "tokenizer.ggml.tokens";
    static constexpr const char* types_key = "tokenizer.ggml.token_type";

    explicit gguf_tokenizer_reader(const gguf_file& file)
        : file_(file), tokens_(file.at(tokens_key).strings()) {
        if (const gguf_value* types = file.find(types_key))
            types_ = types->integers();
        if (tokens_.empty())
            throw error(file.source(), tokens_key, "expected at least one");
        if (!types_.empty() && types_.size() != tokens_.size())
            throw error(file.source(), types_key,
                        "expected one for each token (" + std::to_string(tokens_.size()) +
                            "), found " + std::to_string(types_.size()));
        read_kinds();
    }

    tokenizer_parts read_all() {
        const std::string_view model = file_.at("tokenizer.ggml.model").string();
        if (model == "gpt2") {
            tokenizer_parts parts = read_byte_level();
            read_special(parts);
            return parts;
        }
        if (model != "llama")
            throw error(file_.source(), "tokenizer.ggml.model",
                        "expected gpt2 or llama, found \"" + std::string(model) + "\"");
        tokenizer_parts parts = read_scored();
        parts.special.add_bos = true;
        read_special(parts);
        return parts;
    }

    /// Fills kinds_ and named_ends_.
    void read_kinds() {
        kinds_.reserve(tokens_.size());
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            kinds_.push_back(types_.empty()
                                 ? token_kind::normal
                                 : piece_kind(types_[i], file_.source(), place(types_key, i)));
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            if (is_end_name(tokens_[i]))
                add_named_end(i);
        add_end("tokenizer.ggml.fim_pad_token_id",
                {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"});
        add_end("tokenizer.ggml.fim_rep_token_id",
                {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"});
        add_end("tokenizer.ggml.fim_sep_token_id", {"<|file_sep|>"});
        // With these ends, another name is part of what is written.
        if (first_of({"<|call|>", "<|calls|>"}) && first_of({"<|return|>", "<|flush|>"}))
            open_sequence("<|end|>", token_kind::user);
        if (first_of({"<|tool_response>"}))
            open_sequence("</s>", token_kind::normal);
    }

    /// Adds the id of the key, else that of the first token with one of the names.
    void add_end(const char* key, std::initializer_list<std::string_view> names) {
        if (const auto id = special_id(key))
            named_ends_.push_back(*id);
        else if (const auto named = first_of(names))
            add_named_end(*named);
    }
    /// A token that ends a sequence by its name is no text, whatever its type.
    void add_named_end(std::size_t id) {
        kinds_[id] = token_kind::control;
        named_ends_.push_back(static_cast<std::int32_t>(id));
    }
    /// The token of that name, if any, is text and ends nothing, whatever its type and the keys.
    void open_sequence(std::string_view name, token_kind kind) {
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            if (tokens_[i] == name) {
                kinds_[i] = kind;
                never_ends_.push_back(static_cast<std::int32_t>(i));
            }
    }

    [[nodiscard]] static bool is_end_name(std::string_view name) {
        for (const std::string_view end : {"<|endoftext|>",
                                           "<|im_end|>",
                                           "<|end_of_text|>",
                                           "<|eot_id|>",
                                           "<|eom_id|>",
                                           "<|end|>",
                                           "<end_of_turn>",
                                           "</s>",
                                           "<eos>",
                                           "[EOS]",
                                           "<EOT>",
                                           "_<EOT>",
                                           "[EOT]",
                                           "<|return|>",
                                           "<|call|>",
                                           "<|calls|>",
                                           "<|flush|>",
                                           "<end_of_utterance>",
                                           "<turn|>",
                                           "<|tool_response>",
                                           "[e~[",
                                           "<\xEF\xBD\x9C"
                                           "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"})
            if (name == end)
                return true;
        return false;
    }
    [[nodiscard]] std::optional<std::size_t>
    first_of(std::initializer_list<std::string_view> names) const {
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            for (const std::string_view name : names)
                if (tokens_[i] == name)
                    return i;
        return std::nullopt;
    }

    static std::string place(const char* key, std::size_t i) {
        return std::string(key) + "[" + std::to_string(i) + "]";
    }

    [[nodiscard]] bool flag(const char* key, bool otherwise) const {
        const gguf_value* value = file_.find(key);
        return value == nullptr ? otherwise : value->boolean();
    }

    tokenizer_parts read_scored() const {
        const std::vector<float> scores = file_.at("tokenizer.ggml.scores").floats();
        if (scores.size() != tokens_.size())
            throw error(file_.source(), "tokenizer.ggml.scores",
                        "expected one for each token (" + std::to_string(tokens_.size()) +
                            "), found " + std::to_string(scores.size()));
        if (flag("tokenizer.ggml.remove_extra_whitespaces", false))
            throw error(file_.source(), "tokenizer.ggml.remove_extra_whitespaces",
                        "expected false");
        std::vector<scored_piece> pieces;
        pieces.reserve(tokens_.size());
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            pieces.push_back(
                {std::string(tokens_[i]), scores[i], kinds_[i], !types_.empty() && types_[i] == 2});
        const bool prefix = flag("tokenizer.ggml.add_space_prefix", true);
        return from_scored_pieces(
            pieces, {.dummy_prefix = prefix, .user_tokens = user_token_rule::llama_cpp},
            file_.source(), tokens_key);
    }

    tokenizer_parts read_byte_level() const {
        tokenizer_parts parts;
        parts.literal.raw = parts.with_control.raw = added_tokens(added_order::longest);
        bpe_builder builder(bpe_alphabet::bytes, tokens_.size(), file_.source());
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            const auto id = static_cast<std::int32_t>(i);
            const std::string text(tokens_[i]);
            const token_kind kind = kinds_[i];
            const std::optional<std::string> bytes = byte_level_decode(text);
            const bool is_text = kind == token_kind::normal || kind == token_kind::byte;
            parts.table.add(is_text && bytes ? *bytes : text, kind);
            switch (kind) {
            case token_kind::normal:
            case token_kind::byte:
                if (bytes)
                    builder.add_token(*bytes, id, false, place(tokens_key, i));
                break;
            case token_kind::user:
                parts.literal.raw.add({.content = text, .id = id});
                parts.with_control.raw.add({.content = text, .id = id});
                break;
            case token_kind::control:
                parts.with_control.raw.add({.content = text, .id = id});
                break;
            case token_kind::unused: // whose name is text like any other
                break;
            }
        }
        const std::vector<std::string_view> merges = file_.at("tokenizer.ggml.merges").strings();
        builder.reserve_merges(merges.size());
        for (std::size_t i = 0; i < merges.size(); ++i)
            add_merge(builder, merges[i], i);
        const char* key = "tokenizer.ggml.pre";
        const std::string_view name = file_.at(key).string();
        parts.pre_tokenize = named_pre_tokenizer(name, file_.source(), key);
        const bool llama3 = is_llama3_pre_tokenizer(name);
        parts.special.add_bos = llama3;
        parts.model = std::move(builder).finish(llama3);
        return parts;
    }

    void add_merge(bpe_builder& builder, std::string_view both, std::size_t rank) const {
        const std::string field = place("tokenizer.ggml.merges", rank);
        const std::size_t space = both.find(' ');
        if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos)
            throw error(file_.source(), field, "expected two tokens with one space between");
        const auto left = byte_level_decode(both.substr(0, space));
        const auto right = byte_level_decode(both.substr(space + 1));
        if (!left || !right)
            throw error(file_.source(), field, "expected tokens of the byte-level characters");
        builder.add_merge(*left, *right, static_cast<std::int32_t>(rank), field);
    }

    [[nodiscard]] std::optional<std::int32_t> special_id(const char* key) const {
        return gguf_token_id(file_, key, tokens_.size());
    }

    void read_special(tokenizer_parts& parts) const {
        special_tokens& special = parts.special;
        special.bos = special_id("tokenizer.ggml.bos_token_id");
        for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                "tokenizer.ggml.eom_token_id"})
            if (const auto id = special_id(key))
                special.add_end(*id);
        for (const std::int32_t id : named_ends_)
            special.add_end(id);
        std::erase_if(special.eos, [this](std::int32_t id) {
            return std::find(never_ends_.begin(), never_ends_.end(), id) != never_ends_.end();
        });
        special.add_bos =
            flag("tokenizer.ggml.add_bos_token", special.add_bos) && special.bos.has_value();
    }

    const gguf_file& file_;
    std::vector<std::string_view> tokens_;
    std::vector<std::int64_t> types_; // empty: all normal
    std::vector<token_kind> kinds_;
    std::vector<std::int32_t> named_ends_, never_ends_;
};

/// The tokenizer of a GGUF file. The result borrows nothing of it.
[[nodiscard]] inline tokenizer read_gguf_tokenizer(const gguf_file& file) {
    return tokenizer(gguf_tokenizer_reader::read(file));
}

} // namespace specdec::engine
