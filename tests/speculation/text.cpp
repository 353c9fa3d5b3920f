// SPDX-License-Identifier: MIT
// Texts with settings of their own, side by side with others.
#include <specdec/speculation/text.hpp>

#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace text_tests {

TEST_CASE("a request: what it says takes the place of the settings, field by field") {
    decode_settings all = fixed(rule::slem, 0.5F, 3);
    all.log_probabilities = 1;
    const decode_settings same = settings_of({}, all);
    CHECK(same.rule == all.rule);
    CHECK(same.sampling.temperature == 0.5F);
    CHECK(same.lengths.length == 3);
    CHECK(same.seed == 3);
    CHECK(same.limits.max_tokens == 40);
    CHECK(same.log_probabilities == 1U);
    const decode_settings own = settings_of({.rule = rule::tli,
                                             .sampling = sampling_parameters{.temperature = 1},
                                             .lengths = length_settings{.length = 5},
                                             .seed = 4,
                                             .limits = generation_limits{.max_tokens = 7},
                                             .log_probabilities = 2},
                                            all);
    CHECK(own.rule == rule::tli);
    CHECK(own.sampling.temperature == 1);
    CHECK(own.lengths.length == 5);
    CHECK(own.lengths.kind == length_kind::automatic); // a whole field, not a part of it
    CHECK(own.seed == 4);
    CHECK(own.limits.max_tokens == 7);
    CHECK(own.log_probabilities == 2U);
}

TEST_CASE(
    "a request: texts side by side, each with rule, sampling, lengths, seed and limits of its "
    "own, are those of one run each") {
    toys one, four(4);
    speculation alone = one.pair(), together = four.pair();
    const auto prompt = one.words.encode("ab c"), other = one.words.encode("c");
    const decode_settings all = fixed(rule::slem, 1);
    const std::vector<text_request> texts{
        {.prompt = prompt},
        {.prompt = prompt, .sampling = sampling_parameters{.temperature = 0}},
        {.prompt = prompt, .seed = 9},
        {.prompt = other,
         .rule = rule::autoregressive,
         .limits = generation_limits{.max_tokens = 5}},
        {.prompt = prompt,
         .sequence = 3,
         .rule = rule::coupled,
         .lengths = length_settings{.kind = length_kind::fixed, .length = 6}},
        {.prompt = other, .limits = generation_limits{.max_tokens = 40, .stop_strings = {"b"}}},
        {.prompt = other, .log_probabilities = 1}};
    const decode_results got = together.run(texts, all);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CAPTURE(i);
        const text_request plain{.prompt = texts[i].prompt, .sequence = texts[i].sequence};
        const decode_result wanted =
            alone.run({&plain, 1}, settings_of(texts[i], all)).texts.front();
        CHECK(got.texts[i].tokens == wanted.tokens);
        CHECK(got.texts[i].text == wanted.text);
        CHECK(got.texts[i].finish == wanted.finish);
        CHECK(got.texts[i].counts.proposed == wanted.counts.proposed);
        CHECK(got.texts[i].log_probabilities.size() == wanted.log_probabilities.size());
    }
    CHECK(got.texts[0].tokens != got.texts[1].tokens);
    CHECK(got.texts[0].tokens != got.texts[2].tokens);
    CHECK(got.texts[3].tokens.size() == 5);
    CHECK(got.texts[3].counts.proposed == 0);
    CHECK(got.texts[5].finish == finish_reason::stop_string);
    CHECK(got.texts[6].log_probabilities.size() == 40);

    // One that cannot be followed is named, and the request it is of.
    const std::vector<text_request> wrong{
        {.prompt = prompt}, {.prompt = prompt, .where = "two.txt", .rule = rule::identity}};
    CHECK_THROWS_WITH(together.run(wrong, all),
                      Catch::Matchers::Contains("two.txt: rule: identity: expected equal"));
}

TEST_CASE("a request: a text from its bytes may have all that a request has") {
    toys x;
    speculation pair = x.pair();
    const auto no_c = [&](std::span<const target_id>, std::span<float> row) {
        for (std::size_t i = 0; i < row.size(); ++i)
            if (x.words.target.bytes(id_at<target_id>(i)).find('c') != std::string_view::npos)
                row[i] = -std::numeric_limits<float>::infinity();
    };
    const decode_settings all = fixed(rule::slem, 1);
    CHECK(pair.generate("ab", all).text.find('c') != std::string::npos);
    const decode_result text =
        pair.generate("ab", all, {.process = no_c, .limits = generation_limits{.max_tokens = 12}});
    CHECK(text.text.find('c') == std::string::npos);
    CHECK(text.tokens.size() == 12);
    CHECK(pair.generate("ab", all, {.seed = 5}).text ==
          pair.generate("ab", fixed(rule::slem, 1, 5)).text);
}

TEST_CASE("settings: whoever cancels has a state, and is asked every round") {
    toys x(2);
    speculation pair = x.pair();
    std::size_t asked = 0;
    const auto third = [&] { return ++asked >= 3; };
    decode_settings s = fixed(rule::autoregressive, 1);
    s.cancelled = third;
    const decode_result text = pair.generate("ab c", s);
    CHECK(text.finish == finish_reason::cancelled);
    CHECK(text.tokens.size() < 3);
    CHECK(asked >= 3);
    s.cancelled = {};
    CHECK(pair.generate("ab c", s).finish == finish_reason::max_tokens);

    // One text may end by itself, by its reader.
    struct until : listener {
        std::size_t left = 4;
        bool round(const round_result&) override { return --left > 0; }
    } reader;
    const auto prompt = x.words.encode("ab c");
    const std::vector<text_request> two{{.prompt = prompt, .reader = &reader}, {.prompt = prompt}};
    const auto texts = pair.run(two, s).texts;
    CHECK(texts[0].finish == finish_reason::cancelled);
    CHECK(texts[1].finish == finish_reason::max_tokens);
}

} // namespace text_tests
