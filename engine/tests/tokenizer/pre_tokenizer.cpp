// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/pre_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "toys.hpp"
#include <specdec_engine/tokenizer/pre_token_patterns.hpp>

using namespace specdec::engine;
using toys::error_of;

namespace {

regex pattern(std::string_view text, white_space_rule rule = white_space_rule::unicode) {
    return {text, rule, "test", "pattern"};
}

pre_token_step splitting(const char* text, split_behavior behavior, bool invert = false) {
    return {.pattern = pattern(text), .behavior = behavior, .invert = invert};
}

/// The pieces, with bars between.
std::string cut(const pre_tokenizer& p, std::string text, bool prefixes = false,
                bool first = true) {
    pre_tokens out;
    out.text = std::move(text);
    regex::matcher matcher;
    p.apply(out, prefixes, first, matcher);
    std::string joined;
    for (std::size_t i = 0; i < out.pieces.size(); ++i)
        joined.append(i ? "|" : "").append(out[i]);
    return joined;
}

std::string cut(pre_token_step step, std::string text, bool prefixes = false, bool first = true) {
    pre_tokenizer p;
    p.add(std::move(step));
    return cut(p, std::move(text), prefixes, first);
}

} // namespace

TEST_CASE("what becomes of delimiters") {
    using enum split_behavior;
    CHECK(cut(splitting("-", isolated), "the-final--countdown") == "the|-|final|-|-|countdown");
    CHECK(cut(splitting("-", removed), "the-final--countdown") == "the|final|countdown");
    CHECK(cut(splitting("-", merged_with_previous), "the-final--countdown") ==
          "the-|final-|-|countdown");
    CHECK(cut(splitting("-", merged_with_next), "the-final--countdown") ==
          "the|-final|-|-countdown");
    CHECK(cut(splitting("-", contiguous), "the-final--countdown") == "the|-|final|--|countdown");
    CHECK(cut(splitting("[a-z]+", removed, true), "the-final--countdown") == "the|final|countdown");
    CHECK(cut(splitting("-", merged_with_previous), "-a") == "-|a");
    CHECK(cut(splitting("-", merged_with_next), "a-") == "a|-");
    CHECK(cut(splitting("", isolated), "ab") == "a|b");
    CHECK(cut(splitting("b*", isolated), "abbc") == "a|bb|c");
}

TEST_CASE("bytes that are not UTF-8 are pieces of their own") {
    pre_tokenizer p;
    CHECK(cut(p, "a\xFF"
                 "b") == "a\xFF"
                         "b");
    p.add(splitting("\\p{L}+", split_behavior::isolated));
    CHECK(cut(p, "ab\xFF\xFE"
                 "c1") == "ab|\xFF\xFE|c|1");
    CHECK(cut(p, "\xC3") == "\xC3");
    pre_tokenizer removing; // what is removed between them brings no two runs together
    removing.add(splitting(" ", split_behavior::removed));
    pre_token_step words = splitting("[^a]", split_behavior::isolated);
    words.replace = "_";
    removing.add(std::move(words));
    CHECK(cut(removing, "\xE2\x96 \x81") == "\xE2\x96|\x81");
    CHECK(cut(p, "") == "");
}

TEST_CASE("prefixes stand at the start only") {
    pre_token_step step{.replace = "_", .prefix = "_", .rule = prefix_rule::first};
    CHECK(cut(step, "a b", true) == "_a_b");
    CHECK(cut(step, " b", true) == "_b");
    CHECK(cut(step, "a b", true, false) == "a_b");
    CHECK(cut(step, "a b", false) == "a_b");
    CHECK(cut(step,
              "\xFF"
              "a",
              true) == "_|\xFF|a");
    pre_tokenizer p;
    p.add(splitting("-", split_behavior::removed));
    step.rule = prefix_rule::every;
    p.add(step);
    CHECK(cut(p, "a-b", true, false) == "_a|_b");
}

TEST_CASE("named pre-tokenizers") {
    const auto named = [](const char* name, const std::string& text) {
        return cut(named_pre_tokenizer(name, "test", "pre"), text);
    };
    const std::string text = "It's  12345 DAYS, isn'T\n\n it?";
    CHECK(named("gpt-2", text) == "It|'s| | 12345| DAYS|,| isn|'|T|\n\n| it|?");
    CHECK(named("smollm", text) == "It|'s|  |1|2|3|4|5| DAYS|,| isn|'|T|\n\n| it|?");
    CHECK(named("llama-bpe", text) == "It|'s| | |123|45| DAYS|,| isn|'T|\n\n| it|?");
    CHECK(named("qwen2", text) == "It|'s| | |1|2|3|4|5| DAYS|,| isn|'T|\n\n| it|?");
    CHECK(named("default", "1234 a+b") == "123|4| a|+|b");
    const auto alike = [&](const char* known, const std::vector<const char*>& others) {
        for (const char* const other : others) {
            CAPTURE(other);
            CHECK(named(other, text) == named(known, text));
        }
    };
    alike("gpt-2", {"jina-es", "jina-de", "jina-v1-en", "jina-v2-es", "jina-v2-de", "jina-v2-code",
                    "a.x-4.0", "mellum", "modern-bert", "trillion", "granite-docling", "exaone4"});
    alike("smollm", {"mellum2", "refact", "minerva-7b"});
    alike("llama-bpe",
          {"falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "glm4", "chatglm-bpe"});
    alike("qwen2", {"kormo", "f2llmv2", "hunyuan", "solar-open", "grok-2"});
    for (const char* const name : {"falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"})
        CHECK(is_llama3_pre_tokenizer(name));
    for (const char* const name : {"glm4", "chatglm-bpe", "dbrx", "qwen2"})
        CHECK_FALSE(is_llama3_pre_tokenizer(name));
    CHECK(error_of([] { (void)named_pre_tokenizer("what", "f.gguf", "tokenizer.ggml.pre"); }) ==
          "f.gguf: tokenizer.ggml.pre: expected a known pre-tokenizer (gpt-2, smollm, starcoder, "
          "refact, llama-bpe, qwen2, ...), found \"what\"");
}

TEST_CASE("patterns mean what Oniguruma means") {
    const auto split = [](std::string_view p, const std::string& text,
                          white_space_rule rule = white_space_rule::unicode) {
        return cut(pre_token_step{.pattern = pattern(p, rule)}, text);
    };
    CHECK(split("\\s+", "a\xC2\x85"
                        "b") == "a|\xC2\x85|b"); // U+0085
    CHECK(split("\\s+", "a\xEF\xBB\xBF"
                        "b") == "a\xEF\xBB\xBF"
                                "b"); // U+FEFF
    CHECK(split("\\s+", "a\xE1\xA0\x8E"
                        "b") == "a\xE1\xA0\x8E"
                                "b"); // U+180E
    CHECK(split("[^\\s]+", "a\xC2\xA0"
                           "b") == "a|\xC2\xA0|b"); // U+00A0
    CHECK(split("\\s+",
                "a\xC2\x85"
                "b",
                white_space_rule::ecmascript) == "a\xC2\x85"
                                                 "b");
    CHECK(split("\\S+",
                "a\xEF\xBB\xBF"
                "b",
                white_space_rule::ecmascript) == "a|\xEF\xBB\xBF|b");
    CHECK(split("[\\w-]+", "a_\xCC\x81-1 .") == "a_\xCC\x81-1| .");
    // Without the joiners; with a fraction of Latin-1 outside a set, not in one.
    CHECK(split("\\w+", "a\xE2\x80\x8D-\xC2\xBD") == "a|\xE2\x80\x8D-|\xC2\xBD");
    CHECK(split("[\\w]+", "a-\xC2\xBD") == "a|-\xC2\xBD");
    CHECK(split("\\b", "a\xE2\x80\x8D a\xC2\xBD") == "a|\xE2\x80\x8D |a\xC2\xBD");
    CHECK(split(pre_token_pattern::words, "a\xE2\x80\x8D"
                                          "b") == "a\xE2\x80\x8D"
                                                  "b"); // Rust's
    CHECK(split("\\W+", "a, b") == "a|, |b");
    CHECK(split("\\u0062+", "abbc") == "a|bb|c");
    CHECK(split("[]a]+", "x]a") == "x|]a");
    CHECK(split("[[:digit:]]+", "x12") == "x|12");
    CHECK(split("[[:space:]x]+", "a x\xE1\xA0\x8E") == "a| x|\xE1\xA0\x8E"); // U+180E is none
    for (const char* const name :
         {"alpha", "^alpha", "upper", "lower", "alnum", "word", "punct", "print", "graph", "blank"})
        CHECK(error_of([&] { (void)pattern(std::string("[[:") + name + ":]]"); })
                  .starts_with(std::string("test: pattern: expected a regular expression without "
                                           "the class [:") +
                               name + ":]"));
    CHECK(split("\\[|\\]", "[a]") == "[|a|]");
    for (const char* bad :
         {"(", "[a&&b]", "[a[b]]", "[\\W]", "[\\S]", "\\u00", "[[:x", "\\C", "a{9999999}"})
        CHECK(error_of([&] { (void)pattern(bad); }).starts_with("test: pattern: expected"));
}

TEST_CASE("what PCRE2 reads in another way is translated or refused") {
    const auto split = [](const char* p, const std::string& text) {
        return cut(splitting(p, split_behavior::isolated), text);
    };
    // Lines, whose newlines at the end of a text begin no line, but end one.
    CHECK(split("^a", "aa\na\n") == "a|a\n|a|\n");
    CHECK(split("a$", "aa\na\n") == "a|a|\n|a|\n");
    CHECK(split("^", "a\n\n") == "a\n|\n");
    CHECK(split("\\n$", "a\n") == "a|\n");
    CHECK(split("a$", "a\r\nb") == "a\r\nb"); // of which U+000A is the only one
    CHECK(split("\\Aa|a\\z", "a\na\na") == "a|\na\n|a");
    CHECK(split("a\\Z", "a\na\n") == "a\n|a|\n");
    CHECK(split("a.b", "a\rb a\nb") == "a\rb| a\nb");
    for (const char* p : {"(?m)a.b", "(?m:a.b)", "(?im-x:A.b)"})
        CHECK(split(p, "a\nb a\rb") == "a\nb| |a\rb");
    CHECK(split("(?m:a(?-m).b)", "a\nb a\rb") == "a\nb |a\rb");
    // Characters: \h is a hexadecimal digit, \v is U+000B.
    CHECK(split("\\h+", "xaF0g \t") == "x|aF0|g \t");
    CHECK(split("\\H+", "xaF0g \t") == "x|aF0|g \t");
    CHECK(split("[\\h-]+", "xa-F g") == "x|a-F| g");
    CHECK(split("[^\\h]+", "xa-F g") == "x|a|-|F| g");
    CHECK(split("\\v", "a\n\v") == "a\n|\v");
    CHECK(split("[\\v]", "a\n\v") == "a\n|\v");
    // A mark goes on with a word.
    CHECK(split("e\\b", "e\xCC\x81 e") == "e\xCC\x81 |e");
    CHECK(split("e\\B", "e\xCC\x81 e") == "e|\xCC\x81 e");
    // Repetitions.
    CHECK(split("a{,2}b", "aaab{,2}b") == "a|aab|{,2}|b");
    CHECK(split("\\x{61}+\\p{L}+", "xaab") == "x|aab");
    CHECK(split("[{1}+]+", "x{+}") == "x|{+}");
    CHECK(split("a{,}+", "aa{,}}") == "a|a{,}}"); // text
    CHECK(split("a{1,2}?", "aa") == "a|a");
    for (const char* bad : {"[\\H]", "[\\B]", "\\V", "\\Qa\\E", "a{1,3}+", "a{2}?"})
        CHECK(error_of([&] {
                  (void)pattern(bad);
              }).starts_with("test: pattern: expected a regular expression without "));
    CHECK(error_of([] { (void)pattern("a{1,3}+|b"); }) ==
          "test: pattern: expected a regular expression without + after {}, found a{1,3}+|b");
}

TEST_CASE("a script's name means the script, as in Oniguruma, not its extensions") {
    const auto split = [](const char* p, const std::string& text) {
        return cut(splitting(p, split_behavior::isolated), text);
    };
    // Marks that several scripts use, which are of none of them.
    CHECK(split("\\p{Han}+", "\u597d\u3002") == "\u597d|\u3002");
    CHECK(split("\\p{Katakana}+", "\u30ab\u30fc") == "\u30ab|\u30fc");
    CHECK(split("\\p{Hiragana}+", "\u3042\u30fc") == "\u3042|\u30fc");
    CHECK(split("\\p{Hangul}+", "\uac00\u3001") == "\uac00|\u3001");
    CHECK(split("\\p{Latin}+", "a\u0363") == "a|\u0363");
    CHECK(split("\\p{Greek}+", "\u03b1\u0342") == "\u03b1|\u0342");
    CHECK(split("\\p{Arabic}+", "\u0628\u060c") == "\u0628|\u060c");
    CHECK(split("\\p{Devanagari}+", "\u0915\u0964") == "\u0915|\u0964");
    CHECK(split("\\p{Tamil}+", "\u0b95\u0bf3\u0964") == "\u0b95\u0bf3|\u0964");
    CHECK(split("\\p{Bengali}+", "\u0995\u0964") == "\u0995|\u0964");
    // In sets, negated, in the ways to write a name.
    CHECK(split("[\\p{Han}\\p{Hiragana}]+", "\u597d\u3042\u3002") == "\u597d\u3042|\u3002");
    CHECK(split("[^\\p{Han}]+", "\u597d\u3002a") == "\u597d|\u3002a");
    CHECK(split("\\P{Han}+", "\u597d\u3002a") == "\u597d|\u3002a");
    CHECK(split("\\p{^Han}+", "\u597d\u3002a") == "\u597d|\u3002a");
    CHECK(split("[\\P{Han}]+", "\u597d\u3002a") == "\u597d|\u3002a");
    // What is no script stays what it was.
    CHECK(split("\\p{L}+", "a\u597d1") == "a\u597d|1");
    CHECK(split("\\pL+", "apLLb") == "a|pLL|b"); // no property without braces
    CHECK(split("\\p{Lu}+", "aBC") == "a|BC");
    for (const char* const bad : {"\\p{Nothing}", "\\p{", "\\p{Han", "\\G"})
        CHECK(error_of([&] {
                  (void)pattern(bad);
              }).starts_with("test: pattern: expected a regular expression"));
}

TEST_CASE("runs of a million equal characters are cut in linear time", "[computes]") {
    const char* const o200k =
        "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
        "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
        "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    const char* const deepseek =
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
        "[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|"
        "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    const std::size_t n = 1'000'000;
    for (const std::string_view p :
         {std::string_view(o200k), std::string_view(deepseek), pre_token_pattern::gpt2,
          pre_token_pattern::llama3, pre_token_pattern::qwen2})
        for (const std::string_view unit :
             {" ", "\t", "\r\n", "\u3000", "a", "A", "\u597d", "\u0301", "1", "-"}) {
            pre_tokenizer cutter;
            cutter.add({.pattern = pattern(p)});
            pre_tokens out;
            for (std::size_t i = 0; i < n; ++i)
                out.text += unit;
            for (const std::string_view behind : {"", "x"}) {
                out.text += behind;
                regex::matcher matcher(out.text.size());
                cutter.apply(out, true, true, matcher);
                CAPTURE(p, unit, behind);
                REQUIRE(out.pieces.front().first == 0);
                REQUIRE(out.pieces.back().second == out.text.size());
                REQUIRE(std::ranges::adjacent_find(out.pieces, [](const auto& a, const auto& b) {
                            return a.second != b.first;
                        }) == out.pieces.end());
            }
        }
}

TEST_CASE("a pattern that backtracks without end is stopped with an error, and names itself") {
    const std::string steps = "test: pattern: expected a pattern that takes at most 33554432 steps "
                              "and 64 for each byte of the text: this one backtracks without end";
    for (const char* const p : {"(a+)+(a+)+(a+)+$", "(?:a|aa)+$"})
        for (const std::size_t n : {std::size_t{64}, std::size_t{10'000}})
            CHECK(error_of([&] {
                      (void)cut(splitting(p, split_behavior::isolated), std::string(n, 'a') + "b");
                  }) == steps);
    // Over the whole text, not at each of its places.
    CHECK(error_of([&] {
              std::string text;
              for (int i = 0; i < 20'000; ++i)
                  text += "aaaaaaaaaaaaaaaaaaaaaaaaab";
              (void)cut(splitting("(?:a|aa)+c|b|a", split_behavior::isolated), text);
          }) == steps);
    // What needs many steps at a few places has them, also where it does not match there.
    CHECK(cut(splitting("\\s+$", split_behavior::isolated), std::string(3000, ' ') + "b c  ") ==
          std::string(3000, ' ') + "b c|  ");
    CHECK(cut(splitting("(?:a|aa)+c|b|a", split_behavior::isolated), std::string(20, 'a') + "b")
              .size() == 41);
}

TEST_CASE("a pattern that needs memory without end is stopped with an error") {
    const auto cut_run = [](const std::string& p) {
        return error_of([&] {
            (void)cut(splitting(p.c_str(), split_behavior::isolated), std::string(2'000'000, 'a'));
        });
    };
    CHECK(cut_run("(?:a|b)+c|a+") ==
          "test: pattern: expected a pattern that takes at most 64 MiB of memory and 256 bytes for "
          "each byte of the text");
    std::string groups = "(?:(a)|(b))+c";
    for (int i = 0; i < 5000; ++i)
        groups += "(x)?";
    CHECK_FALSE(cut_run(groups + "|a+").empty());
    CHECK(error_of([&] { (void)pattern(groups + "\\1"); }) ==
          "test: pattern: expected a regular expression that refers to its groups to have fewer");
    CHECK(cut(splitting("(a)\\1", split_behavior::isolated), "baab") == "b|aa|b");
}
