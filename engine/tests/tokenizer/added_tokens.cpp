// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/added_tokens.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <utility>

using namespace specdec::engine;

namespace {

std::string found(const added_tokens& tokens, std::string_view text) {
    std::string out;
    tokens.for_each(
        text,
        [&](std::size_t b, std::size_t e) { (out += '(').append(text.substr(b, e - b)) += ')'; },
        [&](std::int32_t id) { out += std::to_string(id); });
    return out;
}

} // namespace

TEST_CASE("the leftmost and then the longest added token is found") {
    added_tokens tokens;
    CHECK(tokens.empty());
    CHECK(found(tokens, "<a>") == "(<a>)");
    tokens.add({.content = "<a>", .id = 1});
    tokens.add({.content = "<a>b", .id = 2});
    tokens.add({.content = "a>", .id = 3});
    tokens.add({.content = "", .id = 4});
    CHECK_FALSE(tokens.empty());
    CHECK(found(tokens, "") == "");
    CHECK(found(tokens, "x<a>y") == "(x)1(y)");
    CHECK(found(tokens, "<a>b<a>c") == "21(c)");
    CHECK(found(tokens, "ba>") == "(b)3");
    CHECK(found(tokens, "<a") == "(<a)");
}

TEST_CASE("the longest added token of the whole text is found first") {
    added_tokens tokens(added_order::longest);
    CHECK(found(tokens, "<a>") == "(<a>)");
    for (const auto& [content, id] : {std::pair{"<a>", 1}, {"a><b", 2}, {"b>c", 4}, {">b>", 3}})
        tokens.add({.content = content, .id = id});
    CHECK(found(tokens, "") == "");
    CHECK(found(tokens, "x<a>y") == "(x)1(y)");
    CHECK(found(tokens, "<a><b") == "(<)2"); // the longer one, though it begins later
    CHECK(found(tokens, "<a><a><b<a>") == "1(<)21");
    CHECK(found(tokens, "<a>b>c") == "14"); // of one length the lower id
    CHECK(found(tokens, ">b>c") == "3(c)");
    tokens.add({.content = "aa", .id = 5});
    CHECK(found(tokens, "aaaaa") == "55(a)"); // of one id the leftmost
    CHECK(found(tokens, std::string(300'000, 'a')).size() == 150'000);
}

TEST_CASE("as many added tokens as large vocabularies have; of two with one content the first") {
    added_tokens tokens;
    for (std::int32_t i = 0; i < 50'000; ++i)
        tokens.add({.content = "<unused" + std::to_string(i) + ">", .id = i});
    tokens.add({.content = "<unused7>", .id = -7});
    CHECK(found(tokens, "<unused7><unused49999><unused50000>") == "749999(<unused50000>)");
}

TEST_CASE("flags of added tokens") {
    added_tokens tokens;
    tokens.add({.content = "L", .id = 1, .takes_left_space = true});
    tokens.add({.content = "R", .id = 2, .takes_right_space = true});
    tokens.add({.content = "word", .id = 3, .single_word = true});
    CHECK(found(tokens, "a \n L b") == "(a)1( b)");
    CHECK(found(tokens, "a R \xC2\xA0\t b") == "(a )2(b)");
    CHECK(found(tokens, "R L") == "21");
    CHECK(found(tokens, " L") == "1");
    CHECK(found(tokens, "a word, words _word word") == "(a )3(, words _word )3");
    CHECK(found(tokens, "\xC3\xA9word") == "(\xC3\xA9word)");
    CHECK(found(tokens, "\xFFword\xFF") == "(\xFF)3(\xFF)");
    tokens.add({.content = "or", .id = 4});
    CHECK(found(tokens, "words or word") == "(words )4( )3"); // nothing inside what is no word
}
