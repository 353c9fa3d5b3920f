// SPDX-License-Identifier: MIT
#include <specdec/reference/tokenizer/pre_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

#include "toys.hpp"
#include <specdec/reference/tokenizer/pre_token_patterns.hpp>

using namespace specdec::reference;
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
          "test: pattern: expected a regular expression without + behind {}, found a{1,3}+|b");
}

TEST_CASE("a pattern that never ends is stopped with an error") {
    const std::string message = error_of([] {
        (void)cut(splitting("(a+)+(a+)+(a+)+$", split_behavior::isolated),
                  std::string(64, 'a') + "b");
    });
    CHECK(message.starts_with("test: pattern: matching failed"));
}
