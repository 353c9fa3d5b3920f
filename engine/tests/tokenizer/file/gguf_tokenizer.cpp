// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/file/gguf_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <span>
#include <string>

#include "tokenizer/toy_files.hpp"

using namespace specdec::engine;
using specdec::encode_mode;
using specdec::token_kind;
using namespace toys;

namespace gguf_tokenizer_tests {

tokenizer read(const gguf& toy) {
    const std::string bytes = toy.file();
    return read_gguf_tokenizer(gguf_file(std::as_bytes(std::span(bytes)), "toy.gguf"));
}
std::string refusal(const gguf& toy) {
    return error_of([&] { (void)read(toy); });
}

/// A file of the byte-level kind: 256 bytes, ab, abc, a user and two control tokens.
gguf byte_level_file(const std::string& pre = "gpt-2") {
    std::vector<std::string> tokens;
    for (int b = 0; b < 256; ++b)
        tokens.push_back(byte_character(static_cast<unsigned char>(b)));
    for (const char* text : {"ab", "abc", "<tool>", "<|im_start|>", "<|im_end|>"})
        tokens.emplace_back(text);
    std::vector<std::int32_t> types(258, 1);
    types.insert(types.end(), {4, 3, 3});
    gguf out;
    out.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", pre);
    out.strings("tokenizer.ggml.tokens", tokens).numbers("tokenizer.ggml.token_type", 5, types);
    out.strings("tokenizer.ggml.merges", {"a b", "ab c"});
    return out;
}

gguf scored_file(bool with_scores = true, const std::vector<scored>& more = {}) {
    std::vector<std::string> tokens;
    std::vector<std::int32_t> types;
    std::vector<float> scores;
    std::vector<scored> pieces = scored_pieces({{"_", -9}, {"a", -9}, {"_a", -1}});
    pieces.insert(pieces.end(), more.begin(), more.end());
    for (const scored& s : pieces) {
        tokens.push_back(s.text);
        types.push_back(s.type);
        scores.push_back(s.score);
    }
    gguf out;
    out.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", tokens);
    out.numbers("tokenizer.ggml.token_type", 5, types);
    if (with_scores)
        out.numbers("tokenizer.ggml.scores", 6, scores);
    return out;
}

TEST_CASE("gpt2 models of GGUF files") {
    const tokenizer t = read(byte_level_file()
                                 .integer("tokenizer.ggml.bos_token_id", 259)
                                 .integer("tokenizer.ggml.eos_token_id", 260));
    CHECK(t.vocabulary_size() == 261);
    CHECK(encode(t, "abcab<tool> \xFF") == ids{257, 256, 258, ' ', 0xFF});
    CHECK(decode(t, encode(t, "<|im_end|>")) == "<|im_end|>");
    CHECK(encode_with_control(t, "ab<|im_end|>") == ids{256, 260});
    CHECK(t.bytes(' ') == " ");
    CHECK(t.bytes(258) == "<tool>");
    CHECK(t.bytes(260).empty());
    CHECK(t.find("<|im_start|>") == 259);
    CHECK(t.bos() == 259);
    CHECK_FALSE(t.add_bos());
    CHECK(t.eos() == std::vector<std::int32_t>{260});
}

TEST_CASE("the named pre-tokenizer cuts, llama-bpe begins with BOS") {
    CHECK(encode(read(byte_level_file("smollm")), "11") == ids{'1', '1'});
    const tokenizer t =
        read(byte_level_file("llama-bpe").integer("tokenizer.ggml.bos_token_id", 259));
    CHECK(t.add_bos());
    CHECK_FALSE(read(byte_level_file("llama-bpe")).add_bos());
    CHECK_FALSE(read(byte_level_file("llama-bpe")
                         .integer("tokenizer.ggml.bos_token_id", 259)
                         .boolean("tokenizer.ggml.add_bos_token", false))
                    .add_bos());
}

TEST_CASE("llama models of GGUF files") {
    const tokenizer t = read(scored_file().integer("tokenizer.ggml.bos_token_id", 1));
    CHECK(encode(t, "a a") == ids{261, 261});
    CHECK(encode(t, "a", encode_mode::continuation) == ids{260});
    CHECK(t.add_bos());
    CHECK(t.bytes(261) == " a");
    CHECK(t.table().kind(0) == token_kind::control);
    const tokenizer plain = read(scored_file().boolean("tokenizer.ggml.add_space_prefix", false));
    CHECK(encode(plain, "a a") == ids{260, 261});
    CHECK_FALSE(plain.add_bos());
}

// The ids of the next cases are llama.cpp's.
TEST_CASE("user-defined tokens of llama models: found in the text as it comes, a space behind") {
    const tokenizer t = read(scored_file(
        true, {{"x y", -9, 4}, {"x\xE2\x96\x81z", -9, 4}, {"<t>", -9, 4}, {"t><a", -9, 4}}));
    const std::int32_t x_y = 262, x_z = 263, tool = 264, overlapping = 265;
    CHECK(encode(t, "ax ya") == ids{261, x_y, 261});
    CHECK(encode(t, "<t>a<t><t> a") == ids{tool, 261, tool, tool, 259, 261});
    CHECK(encode(t, "ax z") == ids{261, 3 + 'x', 259, 3 + 'z'}); // a sign is not a space
    CHECK(encode(t, "ax\xE2\x96\x81za") == ids{261, x_z, 261});
    CHECK(encode(t, "<t><a") == ids{259, 3 + '<', overlapping}); // the longest name first
    // In a continuation nothing is put in front of anything.
    CHECK(encode(t, "<t>a", encode_mode::continuation) == ids{tool, 260});
    CHECK(decode(t, encode(t, "a<t>a x y", encode_mode::continuation)) == "a<t>a x y");
    CHECK(encode_with_control(t, "<s>a<t>a") == ids{1, 261, tool, 261});
    CHECK(t.bytes(x_y) == "x y");
    CHECK(t.bytes(x_z) == "x z");
    const tokenizer plain =
        read(scored_file(true, {{"<t>", -9, 4}}).boolean("tokenizer.ggml.add_space_prefix", false));
    CHECK(encode(plain, "<t>a") == ids{262, 260});
}

TEST_CASE("tokens that end a sequence by their names, whatever their types") {
    using kinds = std::vector<std::int32_t>;
    const auto ends_of = [](const std::vector<std::string>& names, const kinds& types) {
        gguf out;
        std::vector<std::string> tokens;
        std::vector<std::int32_t> all(256, 1);
        for (int b = 0; b < 256; ++b)
            tokens.push_back(byte_character(static_cast<unsigned char>(b)));
        tokens.insert(tokens.end(), names.begin(), names.end());
        all.insert(all.end(), types.begin(), types.end());
        out.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "gpt-2");
        out.strings("tokenizer.ggml.tokens", tokens).numbers("tokenizer.ggml.token_type", 5, all);
        return read(out.strings("tokenizer.ggml.merges", {}));
    };
    for (const std::int32_t type : {1, 3, 4, 5}) {
        const tokenizer t = ends_of({"<|im_end|>"}, {type});
        CHECK(t.eos() == ids{256});
        CHECK(t.bytes(256).empty());
        CHECK(t.table().kind(256) == token_kind::control);
        CHECK(encode(t, "<|im_end|>").size() == 10); // text like any other
        CHECK(encode_with_control(t, "a<|im_end|>") == ids{'a', 256});
        const tokenizer pieces = read(scored_file(true, {{"<end_of_turn>", -9, type}}));
        CHECK(pieces.eos() == ids{2, 262}); // with </s>
        CHECK(pieces.bytes(262).empty());
        CHECK(decode(pieces, encode(pieces, "<end_of_turn>")) == " <end_of_turn>");
    }
    CHECK(ends_of({"<|im_start|>", "<|End|>"}, {3, 4}).eos().empty());
    CHECK(ends_of({"<|file_sep|>", "<fim_pad>", "<PAD>"}, {4, 1, 4}).eos() == ids{257, 256});
    // Where a call of a tool ends by a name of its own, <|end|> ends a message only.
    const tokenizer calls = ends_of({"<|end|>", "<|call|>", "<|return|>"}, {3, 3, 3});
    CHECK(calls.eos() == ids{257, 258});
    CHECK(encode(calls, "a<|end|>") == ids{'a', 256});
    CHECK(ends_of({"<|end|>", "<|call|>"}, {3, 3}).eos() == ids{256, 257});
    CHECK(ends_of({"<|end|>", "<|calls|>", "<|flush|>"}, {3, 3, 3}).eos() == ids{257, 258});
    CHECK(ends_of({"</s>", "<|tool_response>"}, {3, 3}).eos() == ids{257});
}

TEST_CASE("the name of an unused token is text like any other") {
    for (const char* const name : {"[PAD257]", "<unused>"}) {
        std::vector<std::string> tokens;
        std::vector<std::int32_t> types(256, 1);
        for (int b = 0; b < 256; ++b)
            tokens.push_back(byte_character(static_cast<unsigned char>(b)));
        tokens.emplace_back(name);
        types.push_back(5);
        gguf file;
        file.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "gpt-2");
        file.strings("tokenizer.ggml.tokens", tokens);
        file.numbers("tokenizer.ggml.token_type", 5, types).strings("tokenizer.ggml.merges", {});
        const tokenizer t = read(file);
        CHECK(t.table().kind(256) == token_kind::unused);
        const tokenizer pieces = read(scored_file(true, {{name, -9, 5}}));
        for (const tokenizer* const each : {&t, &pieces}) {
            CHECK(encode_with_control(*each, name) == encode(*each, name));
            CHECK(decode(*each, encode(*each, name, encode_mode::continuation)) == name);
        }
    }
}

TEST_CASE("broken tokenizers in GGUF files") {
    CHECK(refusal(gguf{}) ==
          "toy.gguf: tokenizer.ggml.tokens: expected this metadata key, it is missing");
    CHECK(refusal(byte_level_file("odd"))
              .starts_with("toy.gguf: tokenizer.ggml.pre: expected a known"));
    CHECK(refusal(scored_file(false)) ==
          "toy.gguf: tokenizer.ggml.scores: expected this metadata key, it is missing");
    CHECK(refusal(byte_level_file().integer("tokenizer.ggml.bos_token_id", 0xFFFFFFFF)).empty());
    CHECK(refusal(byte_level_file().integer("tokenizer.ggml.eos_token_id", 261)) ==
          "toy.gguf: tokenizer.ggml.eos_token_id: expected an id from 0 to 261 (exclusive), found "
          "261");
    CHECK(refusal(byte_level_file().string("tokenizer.ggml.bos_token_id", "x"))
              .starts_with("toy.gguf: tokenizer.ggml.bos_token_id: "));
    gguf other;
    other.string("tokenizer.ggml.model", "bert").strings("tokenizer.ggml.tokens", {"a"});
    CHECK(refusal(other) ==
          "toy.gguf: tokenizer.ggml.model: expected gpt2 or llama, found \"bert\"");
    gguf types;
    types.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"a"});
    CHECK(refusal(types) ==
          "toy.gguf: tokenizer.ggml.merges: expected this metadata key, it is missing");
    CHECK(refusal(gguf(types).numbers<std::int32_t>("tokenizer.ggml.token_type", 5, {1, 1})) ==
          "toy.gguf: tokenizer.ggml.token_type: expected one for each token (1), found 2");
    CHECK(refusal(gguf(types).numbers<std::int32_t>("tokenizer.ggml.token_type", 5, {7})) ==
          "toy.gguf: tokenizer.ggml.token_type[0]: expected a type from 1 to 6, found 7");
    CHECK(refusal(gguf(types).strings("tokenizer.ggml.merges", {"a b"})) ==
          "toy.gguf: tokenizer.ggml.merges[0]: expected tokens of the vocabulary, \"b\" is none");
    CHECK(refusal(gguf(types).strings("tokenizer.ggml.merges", {"ab"})) ==
          "toy.gguf: tokenizer.ggml.merges[0]: expected two tokens with one space between");
    gguf none;
    none.strings("tokenizer.ggml.tokens", {});
    CHECK(refusal(none) == "toy.gguf: tokenizer.ggml.tokens: expected at least one");
}

} // namespace gguf_tokenizer_tests
