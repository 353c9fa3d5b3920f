// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/file/tokenizer_json.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <thread>
#include <vector>

#include "support/holds.hpp"
#include "tokenizer/toys.hpp"
#include <specdec/core/concepts.hpp>

using namespace specdec::engine;
using specdec::encode_mode;
using specdec::token_kind;
using toys::decode;
using toys::encode;
using toys::encode_with_control;
using toys::ids;
using toys::json;

static_assert(specdec::TokenizerOf<tokenizer, std::int32_t>);
static_assert(specdec::TokenizerOf<tokenizer_of<specdec::target_id>, specdec::target_id>);
static_assert(specdec::TokenizerOf<tokenizer_of<specdec::draft_id>, specdec::draft_id>);
static_assert(!specdec::TokenizerOf<tokenizer_of<specdec::draft_id>, specdec::target_id>);

namespace tokenizer_json_tests {

tokenizer read(const json& file) {
    return read_tokenizer_json(file.dump(), "toy.json");
}

const std::initializer_list<std::pair<std::string, std::string>> english = {
    {"h", "e"}, {"l", "l"}, {"he", "ll"}, {"_", "w"}, {"_w", "o"}, {"hell", "o"}};

TEST_CASE("a byte-level tokenizer joins within its pre-tokens") {
    const tokenizer t = read(toys::byte_level(english));
    CHECK(t.vocabulary_size() == 262);
    CHECK(encode(t, "hello world") == ids{261, 260, 'r', 'l', 'd'});
    CHECK(encode(t, "hello", encode_mode::continuation) == ids{261});
    CHECK(t.bytes(260) == " wo");
    CHECK(t.bytes(0xE9) == "\xE9");
    CHECK(encode(t, "").empty());
    CHECK_FALSE(t.bos());
    CHECK_FALSE(t.add_bos());
    ids out{7};
    t.encode("he", encode_mode::start, out);
    CHECK(out == ids{7, 256});
}

TEST_CASE("a byte-level tokenizer gives back any bytes") {
    const tokenizer t = read(toys::byte_level(english));
    const auto byte = rc::gen::map(specdec::any_in(0, 255), [](std::size_t b) {
        return std::string(1, static_cast<char>(b));
    });
    const auto character = rc::gen::map(specdec::any_in(0, 0xD7FF), [](std::size_t c) {
        std::string text;
        append_utf8(text, static_cast<unsigned>(c));
        return text;
    });
    const auto word =
        specdec::any_of(std::vector<std::string>{"hello", " world", "l", " ", "12", "\n"});
    specdec::testing::require_holds(
        [&] {
            std::string text;
            for (const std::string& part :
                 *specdec::up_to(60, rc::gen::oneOf(byte, character, word)))
                text += part;
            RC_ASSERT(decode(t, encode(t, text)) == text);
        },
        {.cases = 500});
}

TEST_CASE("a tokenizer in SentencePiece's style falls back to bytes") {
    const tokenizer t =
        read(toys::space_sign({"_", "a", "b", "_a", "ab"}, {{"_", "a"}, {"a", "b"}}));
    CHECK(encode(t, "ab a") == ids{262, 261, 262});
    CHECK(encode(t, "ab a", encode_mode::continuation) == ids{263, 262});
    CHECK(encode(t, "\xC3\xA9", encode_mode::continuation) == ids{0xC3 + 3, 0xA9 + 3});
    CHECK(encode(t, "a\xFFz", encode_mode::continuation) == ids{260, 0xFF + 3, 'z' + 3});
    CHECK(encode(t, "\xE2\x96\x81", encode_mode::continuation) == ids{259});
    CHECK(t.bytes(262) == " a");
    CHECK(t.bytes('z' + 3) == "z");
    CHECK(t.bytes(1).empty());
    CHECK(t.table().entry(1) == "<s>");
    CHECK(t.table().kind(0) == token_kind::control);
    CHECK(t.table().kind('z' + 3) == token_kind::byte);
    CHECK(t.table().kind(262) == token_kind::normal);
    CHECK(decode(t, encode(t, "xaab z\xFE", encode_mode::continuation)) == "xaab z\xFE");
}

TEST_CASE(
    "added tokens that are literal have spaces for the signs, too; names have their own text") {
    json file = toys::space_sign({"_", "a", "__"}, {});
    file["added_tokens"].push_back(toys::added(261, toys::piece("__"), false));
    file["added_tokens"].push_back(toys::added(262, toys::piece("<_>"), true));
    const tokenizer t = read(file);
    CHECK(t.bytes(261) == "  ");
    CHECK(t.table().kind(261) == token_kind::user);
    CHECK(t.table().entry(262) == toys::piece("<_>"));
    json bytes = toys::byte_level();
    bytes["added_tokens"].push_back(toys::added(256, toys::piece("__"), false));
    CHECK(read(bytes).bytes(256) == toys::piece("__"));
}

TEST_CASE("without byte fallback what has no token is unknown") {
    json file = toys::space_sign({"_", "a"}, {});
    file["model"]["byte_fallback"] = false;
    CHECK(encode(read(file), "axya", encode_mode::continuation) == ids{260, 0, 0, 260});
    file["model"]["fuse_unk"] = true;
    CHECK(encode(read(file), "axya", encode_mode::continuation) == ids{260, 0, 260});
    file["model"]["unk_token"] = nullptr;
    CHECK(encode(read(file), "axya", encode_mode::continuation) == ids{260, 260});
}

TEST_CASE("added tokens are matched whole, control names only on demand") {
    json file = toys::byte_level(english);
    file["added_tokens"] =
        json::array({toys::added(262, "<|end|>", true), toys::added(263, "<tool>", false),
                     toys::added(264, "<|reserved_special_token_0|>", true)});
    const tokenizer t = read(file);
    CHECK(encode(t, "he<tool>he") == ids{256, 263, 256});
    CHECK(encode(t, "<|end|>").size() == 7);
    CHECK(decode(t, encode(t, "<|end|>")) == "<|end|>");
    CHECK(encode_with_control(t, "he<|end|><tool>") == ids{256, 262, 263});
    CHECK(t.bytes(262).empty());
    CHECK(t.bytes(263) == "<tool>");
    CHECK(t.table().kind(264) == token_kind::unused);
    CHECK(t.find("<|end|>") == 262);
    CHECK_FALSE(t.find("<tool>"));
    CHECK_FALSE(t.find("he"));
}

TEST_CASE("added tokens may be matched after normalizing") {
    json file = toys::byte_level();
    file["normalizer"] = {{"type", "Lowercase"}};
    json token = toys::added(256, "ABC", false);
    token["normalized"] = true;
    file["added_tokens"] = json::array({token, toys::added(257, "DEF", false)});
    const tokenizer t = read(file);
    CHECK(encode(t, "xAbcDEFdef") == ids{'x', 256, 257, 'd', 'e', 'f'});
    CHECK(decode(t, {256, 257}) == "abcDEF");
    json control = toys::added(258, "GHI", true);
    control["normalized"] = true;
    file["added_tokens"].push_back(control);
    CHECK(encode_with_control(read(file), "ghIABC") == ids{258, 256});
    CHECK(encode(read(file), "GHI") == ids{'g', 'h', 'i'});
}

TEST_CASE(
    "added tokens that are normalized are found behind the others, without a normalizer, too") {
    json file = toys::byte_level();
    json token = toys::added(256, "ab", false);
    token["normalized"] = true;
    file["added_tokens"] = json::array({token, toys::added('b', "b", false)});
    CHECK(encode(read(file), "abc") == ids{'a', 'b', 'c'});
}

TEST_CASE("an added token that is normalized begins with what the normalizer puts in front") {
    json file = toys::space_sign({"_", "a", "b"}, {});
    json token = toys::added(262, "x", false);
    token["normalized"] = true;
    file["added_tokens"].push_back(token);
    const tokenizer t = read(file);
    CHECK(encode(t, "x") == ids{262});
    CHECK(encode(t, "a x b") == ids{259, 260, 262, 259, 261});
    CHECK(encode(t, " x") == ids{259, 262});
    CHECK(encode(t, "ax") == ids{259, 260, 'x' + 3});
    CHECK(encode(t, "x", encode_mode::continuation) == ids{'x' + 3});
    CHECK(decode(t, encode(t, "a x", encode_mode::continuation)) == "a x");
}

TEST_CASE("control tokens inside the vocabulary never come from merges or whole pre-tokens") {
    json file = toys::byte_level({{"a", "b"}, {"b", "c"}});
    file["model"]["ignore_merges"] = true;
    file["added_tokens"] = json::array({toys::added(256, "ab", true)});
    const tokenizer t = read(file);
    CHECK(encode(t, "ab bc") == ids{'a', 'b', ' ', 257});
    CHECK(encode_with_control(t, "ab") == ids{256});
}

TEST_CASE("ids without a token are unused, also between added tokens") {
    json file = toys::byte_level({{"a", "b"}});
    file["model"]["vocab"]["ab"] = 260; // 256 to 259 are free
    file["added_tokens"] =
        json::array({toys::added(258, "<s>", true), toys::added(300, "<t>", true)});
    const tokenizer t = read_tokenizer_json(file.dump(), "toy.json");
    REQUIRE(t.vocabulary_size() == 301);
    for (std::size_t i = 256; i < 301; ++i) {
        const bool control = i == 258 || i == 300;
        CHECK(t.table().kind(i) == (control    ? token_kind::control
                                    : i == 260 ? token_kind::normal
                                               : token_kind::unused));
        CHECK(t.table().entry(i) == (i == 258 ? "<s>" : i == 300 ? "<t>" : i == 260 ? "ab" : ""));
        CHECK(t.bytes(static_cast<std::int32_t>(i)) == (i == 260 ? "ab" : ""));
    }
    CHECK(encode_with_control(t, "ab<t>a<s>") == ids{260, 300, 'a', 258});
}

TEST_CASE("ignore_merges takes a whole pre-token first") {
    json file = toys::byte_level({{"a", "b"}, {"b", "c"}, {"a", "bc"}});
    CHECK(encode(read(file), "abc") == ids{256, 'c'});
    file["model"]["ignore_merges"] = true;
    CHECK(encode(read(file), "abc") == ids{258});
    CHECK(encode(read(file), "abcc") == ids{256, 'c', 'c'});
}

TEST_CASE("a template that begins with a special token makes it BOS") {
    json file = toys::byte_level();
    file["added_tokens"] = json::array({toys::added(256, "<s>", true)});
    json parts = json::array();
    parts.push_back({{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}});
    parts.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    json processors = json::array();
    processors.push_back({{"type", "ByteLevel"}});
    processors.push_back({{"type", "TemplateProcessing"}, {"single", parts}});
    file["post_processor"] = {{"type", "Sequence"}, {"processors", processors}};
    const tokenizer t = read(file);
    CHECK(t.bos() == 256);
    CHECK(t.add_bos());
    CHECK(encode(t, "a") == ids{'a'});
}

TEST_CASE("Metaspace puts its sign in front by its scheme") {
    json file = toys::space_sign({"_", "a", "_a"}, {{"_", "a"}});
    file["normalizer"] = nullptr;
    file["decoder"] = {{"type", "Metaspace"}};
    const auto scheme = [&file](const char* name, bool split) {
        file["pre_tokenizer"] = {{"type", "Metaspace"},
                                 {"replacement", toys::piece("_")},
                                 {"prepend_scheme", name},
                                 {"split", split}};
        return read(file);
    };
    CHECK(encode(scheme("always", true), "a a") == ids{261, 261});
    CHECK(encode(scheme("first", false), " a") == ids{261});
    CHECK(encode(scheme("never", false), "a a") == ids{260, 261});
    CHECK(encode(scheme("always", true), "a a", encode_mode::continuation) == ids{260, 261});
    CHECK(encode_with_control(scheme("first", true), "<s>a") == ids{1, 260});
    CHECK(encode_with_control(scheme("always", true), "<s>a") == ids{1, 261});
}

TEST_CASE("typed ids, and many threads at once") {
    const tokenizer t = read(toys::byte_level(english));
    const tokenizer_of<specdec::draft_id> d(t);
    std::vector<specdec::draft_id> out;
    d.encode("hello", encode_mode::start, out);
    CHECK(out == std::vector{specdec::draft_id{261}});
    CHECK(d.bytes(specdec::draft_id{261}) == "hello");
    CHECK(d.vocabulary_size() == t.vocabulary_size());
    const ids want = encode(t, "hello world, hello");
    std::vector<ids> got(4);
    std::vector<std::thread> threads;
    for (ids& one : got)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i)
                one = encode(t, "hello world, hello");
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const ids& one : got)
        CHECK(one == want);
}

} // namespace tokenizer_json_tests
