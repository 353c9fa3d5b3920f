// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <specdec_engine/tokenizer/file/json_view.hpp>
#include <specdec_engine/tokenizer/normalizer.hpp>
#include <specdec_engine/tokenizer/piece_bytes.hpp>
#include <specdec_engine/tokenizer/pre_token_patterns.hpp>
#include <specdec_engine/tokenizer/pre_tokenizer.hpp>

namespace specdec::engine {

/// What a tokenizer.json says of the way from text to pieces and back.
struct tokenizer_json_steps {
    normalizer normalize{};
    pre_tokenizer pre_tokenize{};
    bool byte_level = false; ///< tokens are written in GPT-2's byte characters
    bool space_sign = false; ///< tokens are written with '▁' for a space
};

/// Reads "normalizer", "pre_tokenizer" and "decoder" of a tokenizer.json.
/// Errors: specdec::error that names file and field, for every step that is not known.
class tokenizer_json_steps_reader {
public:
    [[nodiscard]] static tokenizer_json_steps read(const json_view& root, white_space_rule spaces) {
        tokenizer_json_steps_reader reader(spaces);
        if (const auto v = root.find("normalizer"))
            reader.read_normalizer(*v, 0);
        if (const auto v = root.find("pre_tokenizer"))
            reader.read_pre_tokenizer(*v, 0);
        if (const auto v = root.find("decoder"))
            reader.read_decoder(*v, 0);
        if (reader.steps_.byte_level && reader.steps_.space_sign)
            root.at("decoder").expected("either byte-level tokens or tokens with a space sign");
        return std::move(reader.steps_);
    }

private:
    static constexpr std::string_view sign = space_sign;

    static void check_depth(const json_view& v, int depth) {
        if (depth > 8)
            v.expected("sequences nested at most 8 deep");
    }

    explicit tokenizer_json_steps_reader(white_space_rule spaces) : spaces_(spaces) {}

    [[nodiscard]] regex pattern_of(const json_view& v) const {
        const json_view pattern = v.at("pattern");
        if (const auto text = pattern.find("String"))
            return regex::of_text(text->string(), text->source(), text->field());
        const json_view text = pattern.at("Regex");
        return {text.string(), spaces_, text.source(), text.field()};
    }

    void read_normalizer(const json_view& v, int depth) {
        check_depth(v, depth);
        const json_view type_field = v.at("type");
        const std::string& type = type_field.string();
        const auto simple = [this](normalizer_kind kind) { steps_.normalize.add({.kind = kind}); };
        if (type == "Sequence") {
            for (const json_view& step : v.at("normalizers").elements())
                read_normalizer(step, depth + 1);
        } else if (type == "Prepend") {
            steps_.normalize.add(
                {.kind = normalizer_kind::prepend, .content = v.at("prepend").string()});
        } else if (type == "Replace") {
            normalizer_step step{.kind = normalizer_kind::replace};
            step.content = v.at("content").string();
            if (const auto text = v.at("pattern").find("String"))
                step.find = text->string();
            else
                step.pattern.emplace(pattern_of(v));
            if (step.find == " " && step.content == sign)
                steps_.space_sign = true;
            steps_.normalize.add(std::move(step));
        } else if (type == "NFC") {
            simple(normalizer_kind::nfc);
        } else if (type == "NFD") {
            simple(normalizer_kind::nfd);
        } else if (type == "NFKC") {
            simple(normalizer_kind::nfkc);
        } else if (type == "NFKD") {
            simple(normalizer_kind::nfkd);
        } else if (type == "Lowercase") {
            simple(normalizer_kind::lowercase);
        } else {
            type_field.expected("Sequence, Prepend, Replace, NFC, NFD, NFKC, NFKD or Lowercase, "
                                "found \"" +
                                type + "\"");
        }
    }

    void add_split(const json_view& v, std::string_view pattern,
                   split_behavior behavior = split_behavior::isolated, bool invert = false) {
        pre_token_step step;
        step.pattern.emplace(pattern, spaces_, v.source(), v.field());
        step.behavior = behavior;
        step.invert = invert;
        steps_.pre_tokenize.add(std::move(step));
    }

    static split_behavior behavior_of(const json_view& v) {
        const std::string& name = v.string();
        if (name == "Isolated")
            return split_behavior::isolated;
        if (name == "Removed")
            return split_behavior::removed;
        if (name == "MergedWithPrevious")
            return split_behavior::merged_with_previous;
        if (name == "MergedWithNext")
            return split_behavior::merged_with_next;
        if (name == "Contiguous")
            return split_behavior::contiguous;
        v.expected("Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous");
    }

    void read_pre_tokenizer(const json_view& v, int depth) {
        check_depth(v, depth);
        const json_view type_field = v.at("type");
        const std::string& type = type_field.string();
        if (type == "Sequence") {
            for (const json_view& step : v.at("pretokenizers").elements())
                read_pre_tokenizer(step, depth + 1);
            return;
        }
        if (steps_.byte_level)
            v.expected("no step after ByteLevel");
        if (type == "ByteLevel") {
            steps_.byte_level = true;
            if (v.boolean_or("add_prefix_space", true)) {
                pre_token_step step;
                step.prefix = " ";
                step.rule = prefix_rule::every;
                steps_.pre_tokenize.add(std::move(step));
            }
            if (v.boolean_or("use_regex", true))
                add_split(v, pre_token_pattern::gpt2);
        } else if (type == "Split") {
            pre_token_step step;
            step.pattern.emplace(pattern_of(v));
            step.behavior = behavior_of(v.at("behavior"));
            step.invert = v.boolean_or("invert", false);
            steps_.pre_tokenize.add(std::move(step));
        } else if (type == "Digits") {
            const bool single = v.boolean_or("individual_digits", false);
            add_split(v, single ? pre_token_pattern::digit : pre_token_pattern::digits);
        } else if (type == "Punctuation") {
            const auto behavior = v.find("behavior");
            add_split(v, pre_token_pattern::punctuation,
                      behavior ? behavior_of(*behavior) : split_behavior::isolated);
        } else if (type == "Whitespace") {
            add_split(v, pre_token_pattern::words, split_behavior::removed, true);
        } else if (type == "WhitespaceSplit") {
            add_split(v, pre_token_pattern::white_space, split_behavior::removed);
        } else if (type == "Metaspace") {
            read_metaspace(v);
        } else {
            type_field.expected("Sequence, ByteLevel, Split, Digits, Punctuation, Whitespace, "
                                "WhitespaceSplit or Metaspace, found \"" +
                                type + "\"");
        }
    }

    void read_metaspace(const json_view& v) {
        if (const auto r = v.find("replacement"); r && r->string() != sign)
            r->expected("U+2581 as the sign for a space");
        steps_.space_sign = true;
        pre_token_step step;
        step.replace = step.prefix = sign;
        if (const auto scheme = v.find("prepend_scheme")) {
            const std::string& name = scheme->string();
            if (name == "always")
                step.rule = prefix_rule::every;
            else if (name == "first")
                step.rule = prefix_rule::first;
            else if (name != "never")
                scheme->expected("always, first or never");
        } else if (v.boolean_or("add_prefix_space", true)) {
            step.rule = prefix_rule::every;
        }
        if (v.boolean_or("split", true)) {
            step.pattern = regex::of_text(sign, v.source(), v.field());
            step.behavior = split_behavior::merged_with_next;
        }
        steps_.pre_tokenize.add(std::move(step));
    }

    void read_decoder(const json_view& v, int depth) {
        check_depth(v, depth);
        const json_view type_field = v.at("type");
        const std::string& type = type_field.string();
        if (type == "Sequence") {
            for (const json_view& step : v.at("decoders").elements())
                read_decoder(step, depth + 1);
        } else if (type == "ByteLevel") {
            steps_.byte_level = true;
        } else if (type == "Metaspace") {
            steps_.space_sign = true;
        } else if (type == "Replace") {
            const auto text = v.at("pattern").find("String");
            if (!text || text->string() != sign || v.at("content").string() != " ")
                v.expected("the replacement of U+2581 by a space");
            steps_.space_sign = true;
        } else if (type != "ByteFallback" && type != "Fuse" && type != "Strip") {
            type_field.expected("Sequence, ByteLevel, Metaspace, Replace, ByteFallback, Fuse or "
                                "Strip, found \"" +
                                type + "\"");
        }
    }

    white_space_rule spaces_;
    tokenizer_json_steps steps_;
};

} // namespace specdec::engine
