// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/utf8.hpp>

#include <catch2/catch.hpp>

#include <string>

#include <specdec_engine/tokenizer/byte_level.hpp>

using namespace specdec::engine;

TEST_CASE("every code point decodes to itself, surrogates and overlong forms to nothing") {
    std::size_t wrong = 0;
    for (char32_t c = 0; c <= 0x10FFFF; ++c) {
        std::string text;
        append_utf8(text, c);
        const code_point back = decode_utf8(text, 0);
        const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
        wrong += surrogate ? back.bytes != 0 : back.value != c || back.bytes != text.size();
        for (std::size_t cut = 1; cut < text.size(); ++cut)
            wrong += decode_utf8(std::string_view(text).substr(0, cut), 0).bytes != 0;
    }
    CHECK(wrong == 0);
    for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xF0\x80\x80\x80",
                            "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3("})
        CHECK(decode_utf8(bad, 0).bytes == 0);
}

TEST_CASE("a text falls into valid and invalid spans") {
    const auto spans = [](std::string_view text) {
        std::string out;
        for_each_utf8_span(
            text,
            [&](std::size_t b, std::size_t e) {
                (out += '(').append(text.substr(b, e - b)) += ')';
            },
            [&](std::size_t b, std::size_t e) {
                (out += '[').append(text.substr(b, e - b)) += ']';
            });
        return out;
    };
    CHECK(spans("") == "");
    CHECK(spans("plain ascii, long enough") == "(plain ascii, long enough)");
    CHECK(spans("a\xFF\xFE"
                "b\xC3\xA9\xC3") == "(a)[\xFF\xFE](b\xC3\xA9)[\xC3]");
    CHECK(spans("\xE2\x82") == "[\xE2\x82]");
    CHECK(skip_ascii("12345678\xFF", 0) == 8);
    CHECK(skip_ascii("1234567\xFF"
                     "9",
                     0) == 7);
}

TEST_CASE("GPT-2's byte characters are one to one") {
    constexpr auto map = byte_level_characters();
    CHECK(map[' '] == 0x120);
    CHECK(map['\n'] == 0x10A);
    CHECK(map['A'] == 'A');
    CHECK(map[0xAD] == 0x143);
    std::string all, display;
    for (unsigned b = 0; b < 256; ++b) {
        all += static_cast<char>(b);
        append_utf8(display, map[b]);
    }
    CHECK(byte_level_decode(display) == all);
    CHECK(byte_level_decode("") == "");
    CHECK_FALSE(byte_level_decode("a b"));
    CHECK_FALSE(byte_level_decode("\xE2\x96\x81"));
    CHECK_FALSE(byte_level_decode("a\xFF"));
}
