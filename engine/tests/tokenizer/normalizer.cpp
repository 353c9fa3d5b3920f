// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/normalizer.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include <utf8proc.h>

#include "toys.hpp"

using namespace specdec::engine;
using kind = normalizer_kind;

namespace {

std::string normalized(normalizer_step step, std::string text, bool prefix = true) {
    normalizer n;
    n.add(std::move(step));
    regex::matcher matcher;
    n.apply(text, prefix, matcher);
    return text;
}

} // namespace

TEST_CASE("normalization forms") {
    const std::string composed = "\xC3\xA9", split = "e\xCC\x81", ligature = "\xEF\xAC\x81";
    CHECK(normalized({.kind = kind::nfc}, split) == composed);
    CHECK(normalized({.kind = kind::nfd}, composed) == split);
    CHECK(normalized({.kind = kind::nfkc}, split + ligature) == composed + "fi");
    CHECK(normalized({.kind = kind::nfkd}, composed + ligature) == split + "fi");
    CHECK(normalized({.kind = kind::nfc}, ligature) == ligature);
    CHECK(normalized({.kind = kind::lowercase}, "A\xC3\x89\xC4\xB0z") == "a\xC3\xA9i\xCC\x87z");
    CHECK(normalized({.kind = kind::nfd}, "plain") == "plain");
    CHECK(normalized({.kind = kind::nfc}, "") == "");
}

TEST_CASE("every form is utf8proc's own") {
    // Letters, letters that come apart, Hangul, marks of many classes, those that are excluded.
    const char32_t characters[] = {'a',     'e',     ' ',    0xE9,   0x1E69, 0xAC00, 0xAC01, 0x1100,
                                   0x1161,  0x11A8,  0x0300, 0x0301, 0x0316, 0x0323, 0x0327, 0x0334,
                                   0x0345,  0x05B0,  0x05BC, 0x0958, 0x093C, 0xFB01, 0x2126, 0xFDFA,
                                   0x1D15E, 0x2F800, 0x0F73, 0x0344, 0x200D};
    const std::pair<kind, int> forms[] = {
        {kind::nfc, UTF8PROC_COMPOSE},
        {kind::nfd, UTF8PROC_DECOMPOSE},
        {kind::nfkc, UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
        {kind::nfkd, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT},
    };
    std::minstd_rand random(7);
    for (int i = 0; i < 2000; ++i) {
        std::string text;
        for (std::size_t n = random() % 24; n > 0; --n)
            append_utf8(text, characters[random() % std::size(characters)]);
        for (const auto& [form, options] : forms) {
            std::uint8_t* mapped = nullptr;
            const auto size =
                utf8proc_map(reinterpret_cast<const std::uint8_t*>(text.data()), std::ssize(text),
                             &mapped, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options));
            REQUIRE(size >= 0);
            const std::string wanted(reinterpret_cast<const char*>(mapped),
                                     static_cast<std::size_t>(size));
            std::free(mapped);
            REQUIRE(normalized({.kind = form}, text) == wanted);
        }
    }
}

TEST_CASE("a run of half a million marks is put in order", "[computes]") {
    const std::string above = "\xCC\x81", below = "\xCC\xA3"; // U+0301, U+0323
    const std::size_t pairs = 250'000;
    std::string mixed = "e", ordered = "e";
    for (std::size_t i = 0; i < pairs; ++i)
        mixed += above + below;
    for (std::size_t i = 0; i < 2 * pairs; ++i)
        ordered += i < pairs ? below : above;
    CHECK((normalized({.kind = kind::nfd}, mixed) == ordered));
    // NFC: the first of those below joins the letter.
    CHECK((normalized({.kind = kind::nfc}, mixed) ==
           "\xE1\xBA\xB9" + ordered.substr(1 + below.size())));
}

TEST_CASE("bytes that are not UTF-8 pass unchanged") {
    CHECK(normalized({.kind = kind::nfc}, "e\xFF\xCC\x81\xC3") == "e\xFF\xCC\x81\xC3");
    CHECK(normalized({.kind = kind::nfc}, "\xFF"
                                          "e\xCC\x81") == "\xFF\xC3\xA9");
    CHECK(normalized({.kind = kind::lowercase}, "A\xFF"
                                                "B") == "a\xFF"
                                                        "b");
}

TEST_CASE("replacing and putting in front") {
    CHECK(normalized({.kind = kind::replace, .find = " ", .content = "__"}, " a b") == "__a__b");
    CHECK(normalized({.kind = kind::replace, .find = "aa", .content = "a"}, "aaaaa") == "aaa");
    CHECK(normalized({.kind = kind::replace, .find = "", .content = "x"}, "ab") == "ab");
    CHECK(normalized({.kind = kind::prepend, .content = "_"}, "a") == "_a");
    CHECK(normalized({.kind = kind::prepend, .content = "_"}, "a", false) == "a");
    CHECK(normalized({.kind = kind::prepend, .content = "_"}, "") == "");
    normalizer_step spaces{.kind = kind::replace};
    spaces.pattern.emplace("\\s+|$^", white_space_rule::unicode, "test", "pattern");
    spaces.content = " ";
    CHECK(normalized(spaces, "a \n\tb\xFF  c") == "a b\xFF c");
}

TEST_CASE("steps cannot blow a text up") {
    normalizer n;
    for (int i = 0; i < 40; ++i)
        n.add({.kind = kind::replace, .find = "a", .content = "aa"});
    std::string text = "aaaa";
    regex::matcher matcher;
    CHECK(toys::error_of([&] {
              n.apply(text, true, matcher);
          }).starts_with("normalizer: result: expected"));
}
