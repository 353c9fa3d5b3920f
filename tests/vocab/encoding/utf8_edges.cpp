// SPDX-License-Identifier: MIT
#include <specdec/vocab/encoding/utf8_edges.hpp>

#include <catch2/catch.hpp>

#include <string>

namespace {

using namespace specdec;

TEST_CASE("utf8_tail: bytes of a character that is not finished") {
    CHECK(utf8_tail("") == 0);
    CHECK(utf8_tail("abc") == 0);
    for (const std::string character : {"\u00e9", "\u4f60", "\U0001F600"}) {
        CHECK(utf8_tail("a" + character) == 0);
        for (std::size_t n = 1; n < character.size(); ++n)
            CHECK(utf8_tail("a" + character.substr(0, n)) == n);
    }
    CHECK(utf8_tail("\x80\x80\x80\x80") == 0); // no character at all
}

TEST_CASE("utf8_head: bytes of a character begun before") {
    CHECK(utf8_head("") == 0);
    CHECK(utf8_head("abc") == 0);
    CHECK(utf8_head("\u00e9") == 0);
    CHECK(utf8_head("\xa9z") == 1);
    CHECK(utf8_head("\x9f\x98\x80z") == 3);
    CHECK(utf8_head("\x80\x80\x80\x80") == 3);
}

TEST_CASE("is_word_edge: where a space follows something else") {
    CHECK(is_word_edge("a b", 1));
    CHECK_FALSE(is_word_edge("a b", 2));
    CHECK_FALSE(is_word_edge("a  b", 2));
    CHECK_FALSE(is_word_edge("\n b", 1));
    CHECK_FALSE(is_word_edge("a\n", 1));
}

} // namespace
