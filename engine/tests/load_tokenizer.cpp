// SPDX-License-Identifier: MIT
#include <specdec_engine/load_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include "support/temporary_folder.hpp"
#include "tokenizer/toy_files.hpp"

using namespace specdec::engine;
using namespace toys;
namespace fs = std::filesystem;

namespace {

using specdec::testing::temporary_folder;

json special_file() {
    json file = byte_level();
    file["added_tokens"] =
        json::array({added(256, "<s>", true), added(257, "</s>", true), added(258, "<end>", true)});
    return file;
}

} // namespace

TEST_CASE("a folder's files name the special tokens") {
    const temporary_folder folder;
    CHECK(error_of([&] {
              (void)load_tokenizer(folder.path());
          }).find("expected tokenizer.json or") != std::string::npos);
    folder.write("tokenizer.json", special_file().dump());
    CHECK_FALSE(load_tokenizer(folder.path()).bos());
    folder.write(
        "tokenizer_config.json",
        R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "add_bos_token": true})");
    folder.write("generation_config.json", R"({"eos_token_id": [258, 257]})");
    folder.write("config.json", R"({"eos_token_id": 257})");
    const tokenizer t = load_tokenizer(folder.path());
    CHECK(t.bos() == 256);
    CHECK(t.add_bos());
    CHECK(t.eos() == std::vector<std::int32_t>{257, 258});
    const auto refusal = [&] { return error_of([&] { (void)load_tokenizer(folder.path()); }); };
    folder.write("config.json", R"({"eos_token_id": 259})");
    CHECK(refusal().ends_with(
        "config.json: eos_token_id: expected an id below 259, the number of tokens"));
    folder.write("tokenizer_config.json", R"({"bos_token": "<none>"})");
    CHECK(refusal().ends_with(
        "tokenizer_config.json: bos_token: expected a token of the vocabulary"));
    folder.write("tokenizer_config.json", R"({"add_bos_token": true})");
    CHECK(refusal().ends_with("add_bos_token: expected a bos_token where texts begin with it"));
}

TEST_CASE("a folder with a SentencePiece model") {
    const temporary_folder folder;
    folder.write("tokenizer.model", sentencepiece(scored_pieces({{"_", -1}, {"a", -2}})));
    folder.write("tokenizer_config.json", R"({"add_bos_token": false})");
    const tokenizer t = load_tokenizer(folder.path());
    CHECK(t.bos() == 1);
    CHECK_FALSE(t.add_bos());
    CHECK(encode(t, "a") == ids{259, 260});
}

TEST_CASE("a SentencePiece model under the names that Mistral gives its versions") {
    const temporary_folder folder;
    const std::string bytes = sentencepiece(scored_pieces({{"_", -1}, {"a", -2}}));
    CHECK(encode(load_tokenizer(folder.write("tokenizer.model.v3", bytes)), "a") == ids{259, 260});
    CHECK(encode(load_tokenizer(folder.path()), "a") == ids{259, 260});
    const auto refusal = [&] { return error_of([&] { (void)load_tokenizer(folder.path()); }); };
    folder.write("tokenizer.model.v2", bytes);
    CHECK(refusal().find("folder: expected one tokenizer, found tokenizer.model.v") !=
          std::string::npos);
    folder.write("tokenizer.model", sentencepiece(scored_pieces({{"_", -1}})));
    CHECK(load_tokenizer(folder.path()).vocabulary_size() == 260);
    for (const char* name : {"a.model.v", "a.model.3", "a.v3", "a.model.v3x"})
        CHECK(error_of([&] {
                  (void)load_tokenizer(folder.write(name, bytes));
              }).ends_with(": file: expected a folder, .gguf, .json, .model or .bin"));
}

TEST_CASE("tokens that were added beside a SentencePiece model are not left out unsaid") {
    const temporary_folder folder;
    folder.write("tokenizer.model", sentencepiece(scored_pieces({{"_", -1}, {"a", -2}})));
    folder.write("added_tokens.json", R"({"</s>": 2, "a": 260})");
    folder.write(
        "tokenizer_config.json",
        R"({"model_max_length": 1e30, "added_tokens_decoder": {"2": {"content": "</s>"}}})");
    CHECK(load_tokenizer(folder.path()).vocabulary_size() == 261);
    const auto refusal = [&] { return error_of([&] { (void)load_tokenizer(folder.path()); }); };
    const std::string why = ": expected an id below 261, the number of tokens that are read: those "
                            "of tokenizer.json or tokenizer.model alone";
    folder.write("tokenizer_config.json",
                 R"({"added_tokens_decoder": {"261": {"content": "<x>"}}})");
    CHECK(refusal().ends_with("tokenizer_config.json: added_tokens_decoder.261" + why));
    folder.write("added_tokens.json", R"({"<pad>": 261})");
    CHECK(refusal().ends_with("added_tokens.json: \"<pad>\"" + why));
}

TEST_CASE("flags of added tokens beside a tokenizer.json count, more tokens are refused") {
    const temporary_folder folder;
    folder.write("tokenizer.json", special_file().dump());
    const auto decoder = [&](const std::string& tokens) {
        folder.write("tokenizer_config.json", R"({"added_tokens_decoder": {)" + tokens + "}}");
    };
    const auto refusal = [&] { return error_of([&] { (void)load_tokenizer(folder.path()); }); };
    CHECK(encode_with_control(load_tokenizer(folder.path()), "a <s>") == ids{'a', ' ', 256});
    decoder(R"("256": {"content": "<s>", "special": true, "lstrip": true})");
    CHECK(encode_with_control(load_tokenizer(folder.path()), "a <s>") == ids{'a', 256});
    decoder(R"("259": {"content": "<x>"})");
    CHECK(refusal().ends_with("tokenizer_config.json: added_tokens_decoder.259: expected one of "
                              "tokenizer.json's added tokens"));
    decoder("");
    folder.write("added_tokens.json", R"({"<pad>": 259})");
    CHECK(refusal().find("added_tokens.json: \"<pad>\": expected an id below 259") !=
          std::string::npos);
}

TEST_CASE("tokens behind the rows of a model are none of its tokens, and text is refused there") {
    const temporary_folder folder;
    folder.write("tokenizer.json", special_file().dump());
    folder.write("tokenizer_config.json",
                 R"({"bos_token": "<end>", "eos_token": "</s>", "add_bos_token": true})");
    folder.write("generation_config.json", R"({"eos_token_id": [258, 257]})");
    const tokenizer whole = load_tokenizer(folder.path(), 259);
    CHECK(load_tokenizer(folder.path(), 300).vocabulary_size() == 259); // padded rows
    CHECK(whole.table().fingerprint() == load_tokenizer(folder.path()).table().fingerprint());
    const tokenizer t = load_tokenizer(folder.path(), 258);
    CHECK(t.vocabulary_size() == 258);
    CHECK_FALSE(t.bos());
    CHECK_FALSE(t.add_bos());
    CHECK(t.eos() == std::vector<std::int32_t>{257});
    CHECK(encode_with_control(whole, "a<end></s>") == ids{'a', 258, 257});
    CHECK(encode_with_control(t, "a<end></s>") == ids{'a', '<', 'e', 'n', 'd', '>', 257});
    CHECK(error_of([&] { (void)load_tokenizer(folder.path(), 255); })
              .ends_with(": vocabulary: expected at most 255 tokens, as the model has rows, found "
                         "\"\xFF\" with the id 255"));
}

TEST_CASE("a GGUF tokenizer is in the first of several shards, whichever is named") {
    const temporary_folder folder;
    std::vector<std::string> tokens;
    for (int b = 0; b < 256; ++b)
        tokens.push_back(byte_character(static_cast<unsigned char>(b)));
    const auto shard = [](gguf file, std::uint16_t number) {
        return file.put("split.no", 2, raw(number)).put("split.count", 2, raw(std::uint16_t{2}));
    };
    gguf words;
    words.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "gpt-2");
    words.strings("tokenizer.ggml.tokens", tokens).strings("tokenizer.ggml.merges", {});
    folder.write("w-00001-of-00002.gguf", shard(words, 0).file());
    const auto second = folder.write("w-00002-of-00002.gguf", shard({}, 1).file());
    CHECK(encode(load_tokenizer(second), "a") == ids{'a'});
}

TEST_CASE("files of every kind") {
    const temporary_folder folder;
    const auto pieces = scored_pieces({{" ", -1}, {"a", -2}});
    CHECK(load_tokenizer(folder.write("a.json", special_file().dump())).vocabulary_size() == 259);
    CHECK(load_tokenizer(folder.write("a.model", sentencepiece(pieces))).vocabulary_size() == 261);
    CHECK(load_tokenizer(folder.write("a.bin", llama2c(pieces))).vocabulary_size() == 261);
    gguf file;
    file.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "gpt-2");
    file.strings("tokenizer.ggml.tokens", {"a"}).strings("tokenizer.ggml.merges", {});
    CHECK(load_tokenizer(folder.write("a.gguf", file.file())).vocabulary_size() == 1);
    CHECK(error_of([&] {
              (void)load_tokenizer(folder.write("a.txt", "x"));
          }).ends_with("a.txt: file: expected a folder, .gguf, .json, .model or .bin"));
    CHECK(error_of([&] {
              (void)load_tokenizer(folder.path() / "none.json");
          }).find("none.json: file: ") != std::string::npos);
}

TEST_CASE("the tokenizers in the repository") {
    const fs::path models = fs::path(SPECDEC_SOURCE_DIR) / "models";
    for (const char* name : {"docs-target", "docs-drafter"}) {
        const fs::path folder = models / name;
        if (!fs::exists(folder / "tokenizer.json"))
            continue;
        const tokenizer t = load_tokenizer(folder);
        const std::string text = "def f(x):\n    return \"caf\xC3\xA9\" + x  # 123\xFF";
        CHECK(decode(t, encode(t, text)) == text);
        CHECK_FALSE(t.eos().empty());
    }
}
