// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/reference/file/gguf.hpp>
#include <specdec/reference/tokenizer/bpe_builder.hpp>
#include <specdec/reference/tokenizer/byte_level.hpp>
#include <specdec/reference/tokenizer/file/scored_pieces.hpp>
#include <specdec/reference/tokenizer/pre_token_patterns.hpp>

namespace specdec::reference {

/// Reads the tokenizer from a GGUF file's metadata: model "gpt2" (byte-level, merges, a named
/// pre-tokenizer) or "llama" (scored pieces).
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
                        "expected one a token (" + std::to_string(tokens_.size()) + "), found " +
                            std::to_string(types_.size()));
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

    [[nodiscard]] token_kind kind_of(std::size_t id) const {
        return types_.empty() ? token_kind::normal
                              : piece_kind(types_[id], file_.source(), place(types_key, id));
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
                        "expected one a token (" + std::to_string(tokens_.size()) + "), found " +
                            std::to_string(scores.size()));
        if (flag("tokenizer.ggml.remove_extra_whitespaces", false))
            throw error(file_.source(), "tokenizer.ggml.remove_extra_whitespaces",
                        "expected false");
        std::vector<scored_piece> pieces;
        pieces.reserve(tokens_.size());
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            pieces.push_back({std::string(tokens_[i]), scores[i], kind_of(i),
                              !types_.empty() && types_[i] == 2});
        const bool prefix = flag("tokenizer.ggml.add_space_prefix", true);
        return from_scored_pieces(pieces, {.dummy_prefix = prefix}, file_.source(), tokens_key);
    }

    tokenizer_parts read_byte_level() const {
        tokenizer_parts parts;
        bpe_builder builder(bpe_alphabet::bytes, tokens_.size(), file_.source());
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            const auto id = static_cast<std::int32_t>(i);
            const std::string text(tokens_[i]);
            const token_kind kind = kind_of(i);
            const std::optional<std::string> bytes = byte_level_decode(text);
            const bool is_text = kind == token_kind::normal || kind == token_kind::byte;
            parts.table.add(is_text && bytes ? *bytes : text, kind);
            if (is_text) {
                if (bytes)
                    builder.add_token(*bytes, id, false, place(tokens_key, i));
            } else {
                if (kind == token_kind::user)
                    parts.literal.raw.add({.content = text, .id = id});
                parts.with_control.raw.add({.content = text, .id = id});
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
        // The keys name one end at most of each sort; files in the field rely on these names too.
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            for (const std::string_view name :
                 {"<|endoftext|>", "<|im_end|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>",
                  "<|end|>", "<end_of_turn>"})
                if (parts.table.kind(i) == token_kind::control && tokens_[i] == name)
                    special.add_end(static_cast<std::int32_t>(i));
        special.add_bos =
            flag("tokenizer.ggml.add_bos_token", special.add_bos) && special.bos.has_value();
    }

    const gguf_file& file_;
    std::vector<std::string_view> tokens_;
    std::vector<std::int64_t> types_; // empty: all normal
};

/// The tokenizer of a GGUF file. The result borrows nothing of it.
[[nodiscard]] inline tokenizer read_gguf_tokenizer(const gguf_file& file) {
    return tokenizer(gguf_tokenizer_reader::read(file));
}

} // namespace specdec::reference
