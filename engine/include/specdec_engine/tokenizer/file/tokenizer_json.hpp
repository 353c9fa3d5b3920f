// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec_engine/tokenizer/bpe_builder.hpp>
#include <specdec_engine/tokenizer/byte_level.hpp>
#include <specdec_engine/tokenizer/file/json_view.hpp>
#include <specdec_engine/tokenizer/file/tokenizer_json_steps.hpp>
#include <specdec_engine/tokenizer/piece_bytes.hpp>
#include <specdec_engine/tokenizer/tokenizer.hpp>

namespace specdec::engine {

/// Reads Hugging Face's tokenizer.json with a BPE model: byte-level, or in SentencePiece's style
/// (a sign for spaces, byte fallback).
/// Errors: specdec::error that names file and field.
class tokenizer_json_reader {
public:
    [[nodiscard]] static tokenizer_parts read(const nlohmann::json& document,
                                              const std::string& source,
                                              white_space_rule spaces = white_space_rule::unicode) {
        return tokenizer_json_reader(json_view(document, source), spaces).read_all();
    }

private:
    /// Ids without a token, at most: vocabularies leave out some hundreds.
    static constexpr std::size_t most_holes = std::size_t{1} << 16;

    struct entry {
        const std::string* text = nullptr; // of the vocabulary, or an added token's content
        token_kind kind = token_kind::normal;
        bool in_model = false;
        std::string normal{}; // of a token that is matched behind the normalizer: what it matches
    };

    tokenizer_json_reader(const json_view& root, white_space_rule spaces)
        : root_(root), model_(root.at("model")),
          steps_(tokenizer_json_steps_reader::read(root, spaces)),
          byte_fallback_(model_.boolean_or("byte_fallback", false)) {}

    tokenizer_parts read_all() {
        check_model();
        parts_.normalize = std::move(steps_.normalize);
        parts_.pre_tokenize = std::move(steps_.pre_tokenize);
        read_vocabulary();
        check_space_sign();
        read_added_tokens();
        read_merges();
        if (const auto post = root_.find("post_processor"))
            read_post_processor(*post, 0);
        return std::move(parts_);
    }

    void check_model() const {
        if (const auto type = model_.find("type"); type && type->string() != "BPE")
            type->expected("BPE, found \"" + type->string() + "\"");
        if (const auto dropout = model_.find("dropout"); dropout && dropout->value() != 0)
            dropout->expected("null or 0");
        for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
            if (const auto text = model_.find(key); text && !text->string().empty())
                text->expected("nothing");
    }

    void read_vocabulary() {
        const json_view vocabulary_field = model_.at("vocab");
        if (!vocabulary_field.is_object())
            vocabulary_field.expected("an object");
        const auto added = root_.find("added_tokens");
        std::size_t count = vocabulary_field.size();
        if (added)
            for (const json_view& token : added->elements())
                count += !vocabulary_field.value().contains(token.at("content").string());
        end_ = count + most_holes;
        for (const auto& [text, id] : vocabulary_field.value().items()) {
            const json_view v(id, root_.source(), "model.vocab[\"" + text + "\"]");
            entry& e = entry_of(v.id_below(end_, most_holes));
            if (e.text != nullptr)
                v.expected("an id of its own, \"" + *e.text + "\" has it too");
            e.text = &text;
            e.in_model = true;
            if (byte_fallback_ && byte_of_name(text))
                e.kind = token_kind::byte;
        }
    }

    /// The entry of an id; ids without a token, before it, are unused.
    entry& entry_of(std::int32_t id) {
        const auto i = static_cast<std::size_t>(id);
        if (i >= entries_.size())
            entries_.resize(i + 1);
        return entries_[i];
    }

    /// Spaces would vanish where the steps write them as U+2581 and the vocabulary, as U+0120.
    void check_space_sign() const {
        std::size_t signs = 0, byte_letters = 0;
        for (const entry& e : entries_) {
            signs += e.in_model && e.text->find(space_sign) != std::string::npos;
            byte_letters += e.in_model && e.text->find(byte_level_space) != std::string::npos;
        }
        if (steps_.space_sign && byte_letters > signs)
            throw error(root_.source(), "model.vocab",
                        "expected tokens with U+2581 for a space, as the steps have it (Metaspace "
                        "or Replace), found " +
                            std::to_string(byte_letters) + " with U+0120 and " +
                            std::to_string(signs) +
                            " with U+2581: this vocabulary is byte-level and wants ByteLevel "
                            "steps");
    }

    void read_added_tokens() {
        const auto added = root_.find("added_tokens");
        if (!added)
            return;
        regex::matcher matcher;
        for (const json_view& v : added->elements()) {
            const json_view text = v.at("content");
            const std::string& content = text.string();
            if (content.empty())
                text.expected("a text that is not empty");
            const json_view id_field = v.at("id");
            added_token token{.content = content, .id = id_field.id_below(end_, most_holes)};
            token.takes_left_space = v.boolean_or("lstrip", false);
            token.takes_right_space = v.boolean_or("rstrip", false);
            token.single_word = v.boolean_or("single_word", false);
            entry& e = entry_of(token.id);
            if (e.text != nullptr && *e.text != content)
                id_field.expected("an id of its own, \"" + *e.text + "\" has it too");
            if (e.kind != token_kind::normal && e.kind != token_kind::byte)
                id_field.expected("each added token once");
            e.text = &content;
            const bool special = v.boolean_or("special", false);
            e.kind = !special                                           ? token_kind::user
                     : content.starts_with("<|reserved_special_token_") ? token_kind::unused
                                                                        : token_kind::control;
            auto found = &added_sets::raw;
            if (v.boolean_or("normalized", !special)) {
                found = &added_sets::normalized;
                parts_.normalize.apply(token.content, true, matcher); // Prepend, too, as it does
                e.normal = token.content;
            }
            if (!special)
                (parts_.literal.*found).add(token);
            (parts_.with_control.*found).add(std::move(token));
        }
    }

    /// A token's text as the merges see it; nothing where no text can give it.
    [[nodiscard]] std::optional<std::string> form(const std::string& text) const {
        return steps_.byte_level ? byte_level_decode(text) : text;
    }

    /// What a token adds to a text.
    [[nodiscard]] std::string bytes_of(const entry& e) const {
        if (e.text == nullptr)
            return {};
        if (e.kind == token_kind::byte)
            return std::string(1, *byte_of_name(*e.text));
        if (e.kind != token_kind::normal && e.kind != token_kind::user)
            return *e.text;
        const std::string& text = e.normal.empty() ? *e.text : e.normal;
        if (steps_.space_sign)
            return with_spaces(text);
        return e.kind == token_kind::user ? text : form(text).value_or(text);
    }

    void read_merges() {
        bpe_builder builder(steps_.byte_level ? bpe_alphabet::bytes : bpe_alphabet::code_points,
                            entries_.size(), root_.source());
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const entry& e = entries_[i];
            const auto id = static_cast<std::int32_t>(i);
            parts_.table.add(bytes_of(e), e.text != nullptr ? e.kind : token_kind::unused);
            if (e.kind == token_kind::byte)
                builder.add_byte(*byte_of_name(*e.text), id);
            if (!e.in_model || e.kind == token_kind::byte)
                continue;
            const bool control = e.kind == token_kind::control || e.kind == token_kind::unused;
            if (const auto text = form(*e.text))
                builder.add_token(*text, id, control, "model.vocab[\"" + *e.text + "\"]");
        }
        if (const auto unknown = model_.find("unk_token")) {
            const std::int32_t id = builder.find(form(unknown->string()).value_or(""));
            if (id < 0)
                unknown->expected("a token of the vocabulary");
            builder.set_unknown(id, model_.boolean_or("fuse_unk", false));
        }
        const json_view merges = model_.at("merges");
        if (!merges.is_array())
            merges.expected("an array");
        builder.reserve_merges(merges.size());
        for (std::size_t i = 0; i < merges.size(); ++i)
            add_merge(builder, merges.value()[i], i);
        const bool words = steps_.space_sign && !model_.boolean_or("ignore_merges", false);
        parts_.model = std::move(builder).finish(model_.boolean_or("ignore_merges", false),
                                                 words ? space_sign : std::string_view{});
    }

    void add_merge(bpe_builder& builder, const nlohmann::json& value, std::size_t rank) const {
        const json_view v(value, root_.source(), "model.merges[" + std::to_string(rank) + "]");
        std::string left, right;
        if (v.is_string()) { // "left right"
            const std::string& both = v.string();
            const std::size_t space = both.find(' ');
            if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos)
                v.expected("two tokens with one space between");
            left = both.substr(0, space);
            right = both.substr(space + 1);
        } else {
            if (!v.is_array() || v.size() != 2)
                v.expected("two tokens");
            left = v[0].string();
            right = v[1].string();
        }
        const auto a = form(left), b = form(right);
        if (!a || !b)
            v.expected("tokens of the byte-level characters");
        builder.add_merge(*a, *b, static_cast<std::int32_t>(rank), v.field());
    }

    /// A template that begins with a special token: texts begin with it by default.
    void read_post_processor(const json_view& v, int depth) {
        const json_view type_field = v.at("type");
        const std::string& type = type_field.string();
        if (depth > 8)
            v.expected("sequences nested at most 8 deep");
        if (type == "Sequence") {
            for (const json_view& step : v.at("processors").elements())
                read_post_processor(step, depth + 1);
        } else if (type == "TemplateProcessing") {
            const auto single = v.at("single").elements();
            if (single.empty())
                return;
            const auto special = single[0].find("SpecialToken");
            if (!special)
                return;
            const json_view name = special->at("id");
            for (std::size_t i = 0; i < parts_.table.size(); ++i)
                if (parts_.table.kind(i) == token_kind::control &&
                    parts_.table.entry(i) == name.string()) {
                    parts_.special.bos = static_cast<std::int32_t>(i);
                    parts_.special.add_bos = true;
                    return;
                }
            name.expected("the name of a special added token");
        } else if (type != "ByteLevel") { // which moves offsets alone
            type_field.expected("Sequence, TemplateProcessing or ByteLevel, found \"" + type +
                                "\"");
        }
    }

    json_view root_;
    json_view model_;
    tokenizer_json_steps steps_;
    bool byte_fallback_;
    std::vector<entry> entries_; // by id
    std::size_t end_ = 0;        // of ids
    tokenizer_parts parts_;
};

/// A tokenizer.json from memory. Its patterns' \s is Hugging Face's, unless the caller wants the
/// ids of an encoder in JavaScript.
[[nodiscard]] inline tokenizer
read_tokenizer_json(std::string_view text, const std::string& source,
                    white_space_rule spaces = white_space_rule::unicode) {
    return tokenizer(tokenizer_json_reader::read(parse_json(text, source, "file"), source, spaces));
}

} // namespace specdec::engine
