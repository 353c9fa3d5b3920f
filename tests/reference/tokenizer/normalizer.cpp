// SPDX-License-Identifier: MIT
#include <specdec/reference/tokenizer/normalizer.hpp>

#include <catch2/catch.hpp>

#include <string>

#include "toys.hpp"

using namespace specdec::reference;
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
