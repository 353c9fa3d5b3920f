// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/file/tokenizer_json.hpp>

#include <catch2/catch.hpp>

#include <string>

#include "toys.hpp"

using namespace specdec::engine;
using toys::error_of;
using toys::json;

namespace tokenizer_json_errors_tests {

std::string refusal(const json& file) {
    return error_of([&] { (void)read_tokenizer_json(file.dump(), "toy.json"); });
}

/// The error of a good file with one change.
template <class Change>
std::string refusal_of(Change&& change) {
    json file = toys::byte_level({{"a", "b"}, {"ab", "c"}});
    change(file);
    return refusal(file);
}

TEST_CASE("the untouched file is good") {
    CHECK(refusal_of([](json&) {}).empty());
}

TEST_CASE("what is no tokenizer.json") {
    for (const char* text : {"", "{", "[]", "{}", "nonsense", "{\"model\": 3}", "\"\xFF\""}) {
        const std::string message = error_of([&] { (void)read_tokenizer_json(text, "toy.json"); });
        CHECK(message.starts_with("toy.json: "));
    }
    CHECK(refusal_of([](json& f) { f["model"].erase("vocab"); }) ==
          "toy.json: model.vocab: expected this field");
    CHECK(refusal_of([](json& f) { f["model"].erase("merges"); }) ==
          "toy.json: model.merges: expected this field");
    CHECK(refusal_of([](json& f) { f["model"]["merges"] = 3; }) ==
          "toy.json: model.merges: expected an array");
    CHECK(refusal_of([](json& f) { f["model"]["vocab"] = json::array(); }) ==
          "toy.json: model.vocab: expected an object");
}

TEST_CASE("models of another kind") {
    CHECK(refusal_of([](json& f) { f["model"]["type"] = "Unigram"; }) ==
          "toy.json: model.type: expected BPE, found \"Unigram\"");
    CHECK(refusal_of([](json& f) { f["model"]["type"] = "WordPiece"; }) ==
          "toy.json: model.type: expected BPE, found \"WordPiece\"");
    CHECK(refusal_of([](json& f) { f["model"]["dropout"] = 0.1; }) ==
          "toy.json: model.dropout: expected null or 0");
    CHECK(refusal_of([](json& f) { f["model"]["end_of_word_suffix"] = "</w>"; }) ==
          "toy.json: model.end_of_word_suffix: expected nothing");
    CHECK(refusal_of([](json& f) { f["model"]["unk_token"] = "none"; }) ==
          "toy.json: model.unk_token: expected a token of the vocabulary");
}

TEST_CASE("ids that are given twice, negative or huge") {
    const auto with_id = [](const json& id) {
        return refusal_of([&](json& f) { f["model"]["vocab"]["abc"] = id; });
    };
    CHECK(with_id(98).find("expected an id of its own") != std::string::npos);
    const std::string range = "toy.json: model.vocab[\"abc\"]: expected an id below 65794, the "
                              "number of tokens and 65536 "
                              "ids without one";
    CHECK(with_id(65794) == range);
    CHECK(with_id(-1) == range);
    CHECK(with_id(1e18) == range);
    CHECK(with_id(4000000000u) == range);
    CHECK(with_id("7") == range);
    CHECK(with_id(nullptr) == range);
    CHECK(refusal_of([](json& f) {
              f["added_tokens"] = json::array({toys::added(65795, "<s>", true)});
          }) ==
          "toy.json: added_tokens[0].id: expected an id below 65795, the number of tokens and "
          "65536 ids without one");
    CHECK(refusal_of([](json& f) {
              f["added_tokens"] = json::array({toys::added(97, "<s>", true)});
          }) == "toy.json: added_tokens[0].id: expected an id of its own, \"a\" has it too");
    for (const char* name : {"<s>", "<|reserved_special_token_0|>"})
        CHECK(refusal_of([&](json& f) {
                  f["added_tokens"] =
                      json::array({toys::added(258, name, true), toys::added(258, name, true)});
              }) == "toy.json: added_tokens[1].id: expected each added token once");
    CHECK(refusal_of([](json& f) {
              f["added_tokens"] = json::array({toys::added(258, "", true)});
          }) == "toy.json: added_tokens[0].content: expected a text that is not empty");
    CHECK(refusal_of([](json& f) {
              // two names of one id leave another id without a name
              f["added_tokens"] =
                  json::array({toys::added(258, "<s>", true), toys::added(258, "<t>", true)});
          }).find("expected an id of its own") != std::string::npos);
}

TEST_CASE("cyclic, missing and repeated merges") {
    const auto with_merge = [](const json& merge) {
        return refusal_of([&](json& f) { f["model"]["merges"].push_back(merge); });
    };
    CHECK(with_merge("a b") ==
          "toy.json: model.merges[2]: expected each merge once, found this one before");
    CHECK(with_merge("b c") ==
          "toy.json: model.merges[2]: expected tokens of the vocabulary, \"bc\" is none");
    CHECK(with_merge("xyz c") ==
          "toy.json: model.merges[2]: expected tokens of the vocabulary, \"xyz\" is none");
    const std::string cyclic =
        "toy.json: model.merges[2]: expected two tokens, one is empty (it would join forever)";
    CHECK(with_merge(" a") == cyclic);
    CHECK(with_merge({"ab", ""}) == cyclic);
    CHECK(with_merge("ab") ==
          "toy.json: model.merges[2]: expected two tokens with one space between");
    CHECK(with_merge("a b c") ==
          "toy.json: model.merges[2]: expected two tokens with one space between");
    CHECK(with_merge({"a", "b", "c"}) == "toy.json: model.merges[2]: expected two tokens");
    CHECK(with_merge(5) == "toy.json: model.merges[2]: expected two tokens");
    CHECK(with_merge({"a", 5}) == "toy.json: model.merges[2][1]: expected a string");
    CHECK(with_merge({"a b", "c"}) ==
          "toy.json: model.merges[2]: expected tokens of the byte-level characters");
    CHECK(refusal_of([](json& f) { f["model"]["vocab"].erase("ab"); }).find("toy.json: model.") ==
          0);
    CHECK(refusal_of([](json& f) {
              f["model"]["vocab"].erase("ab");
              f["model"]["vocab"][""] = 256;
          }) == "toy.json: model.vocab[\"\"]: expected a token that is not empty");
}

TEST_CASE("steps that are not known") {
    const auto with = [](const char* key, const json& value) {
        return refusal_of([&](json& f) { f[key] = value; });
    };
    CHECK(with("normalizer", {{"type", "Precompiled"}}) ==
          "toy.json: normalizer.type: expected Sequence, Prepend, Replace, NFC, NFD, NFKC, NFKD or "
          "Lowercase, found \"Precompiled\"");
    CHECK(with("pre_tokenizer", {{"type", "BertPreTokenizer"}})
              .starts_with("toy.json: pre_tokenizer.type: "));
    CHECK(with("decoder", {{"type", "WordPiece"}}).starts_with("toy.json: decoder.type: "));
    CHECK(with("decoder", 3) == "toy.json: decoder: expected an object");
    CHECK(with("normalizer", json::object()) == "toy.json: normalizer.type: expected this field");
    json steps = json::array();
    steps.push_back({{"type", "Split"}, {"pattern", {{"Regex", "("}}}, {"behavior", "Isolated"}});
    CHECK(with("pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}})
              .starts_with("toy.json: pre_tokenizer.pretokenizers[0].pattern.Regex: "));
    steps[0]["pattern"]["Regex"] = "a";
    steps[0]["behavior"] = "Odd";
    CHECK(with("pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}})
              .starts_with("toy.json: pre_tokenizer.pretokenizers[0].behavior: expected Isolated"));
    steps[0] = {{"type", "ByteLevel"}};
    steps.push_back({{"type", "Digits"}});
    CHECK(with("pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}}) ==
          "toy.json: pre_tokenizer.pretokenizers[1]: expected no step after ByteLevel");
    json deep = {{"type", "NFC"}};
    for (int i = 0; i < 12; ++i)
        deep = {{"type", "Sequence"}, {"normalizers", json::array({deep})}};
    CHECK(with("normalizer", deep).find("expected sequences nested at most 8 deep") !=
          std::string::npos);
    json post = {{"type", "TemplateProcessing"}, {"single", json::array()}};
    post["single"].push_back({{"SpecialToken", {{"id", "<none>"}}}});
    CHECK(
        with("post_processor", post) ==
        "toy.json: post_processor.single[0].SpecialToken.id: expected the name of a special added "
        "token");
    CHECK(with("post_processor", {{"type", "RobertaProcessing"}, {"cls", {"<s>", 0}}})
              .starts_with("toy.json: post_processor.type: expected Sequence, TemplateProcessing"));
}

TEST_CASE("a byte-level vocabulary with a step for another sign") {
    const json metaspace = {{"type", "Metaspace"}, {"replacement", "\u2581"}};
    const std::string refused =
        "toy.json: model.vocab: expected tokens with U+2581 for a space, as the steps have it "
        "(Metaspace or Replace), found 1 with U+0120 and 0 with U+2581: this vocabulary is "
        "byte-level and wants ByteLevel steps";
    CHECK(refusal_of([&](json& f) { f["pre_tokenizer"] = f["decoder"] = metaspace; }) == refused);
    CHECK(refusal_of([&](json& f) {
              f["pre_tokenizer"] = nullptr;
              f["decoder"] = metaspace;
          }) == refused);
    CHECK(refusal_of([&](json& f) {
              f["normalizer"] = {
                  {"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
              f["pre_tokenizer"] = f["decoder"] = nullptr;
          }) == refused);
    CHECK(refusal_of([&](json& f) { f["pre_tokenizer"] = metaspace; }) ==
          "toy.json: decoder: expected either byte-level tokens or tokens with a space sign");
    CHECK(refusal_of([&](json& f) { f["decoder"] = metaspace; }) ==
          "toy.json: decoder: expected either byte-level tokens or tokens with a space sign");
    // A letter of Maltese among tokens with the sign is no mistake.
    CHECK(refusal(toys::space_sign({"_", "a", "_a", "\u0120"}, {{"_", "a"}})).empty());
}

} // namespace tokenizer_json_errors_tests
