// SPDX-License-Identifier: MIT
// Texts with settings of their own, side by side with others.
#include <specdec/speculation/text.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace text_tests {

struct learner {
    static constexpr rule_traits traits{.learn = true};
};

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

    // One that cannot be followed is named, and the request it is of, before any is decoded.
    const std::size_t passes = one.target.passes;
    const std::vector<text_request> wrong{
        {.prompt = prompt}, {.prompt = prompt, .where = "two.txt", .rule = rule::identity}};
    CHECK_THROWS_WITH(alone.run(wrong, all),
                      Catch::Contains("two.txt: rule: identity: expected equal"));
    CHECK(one.target.passes == passes);
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

TEST_CASE("a request: it may be cancelled alone, under way and before it begins") {
    toys x(2);
    speculation pair = x.pair();
    const auto prompt = x.words.encode("ab c");
    std::size_t asked = 0;
    const auto third = [&] { return ++asked >= 3; };
    const auto gone = [] { return true; };
    const decode_settings s = fixed(rule::autoregressive, 1);
    const std::vector<text_request> texts{{.prompt = prompt, .cancelled = third},
                                          {.prompt = prompt, .sequence = 1},
                                          {.prompt = prompt, .cancelled = gone}};
    const auto got = pair.run(texts, s).texts;
    CHECK(got[0].finish == finish_reason::cancelled);
    CHECK(got[0].tokens.size() == 1); // asked before it begins, too; its second round is discarded
    CHECK(got[1].finish == finish_reason::max_tokens);
    CHECK(got[1].tokens.size() == 40);
    CHECK(got[2].finish == finish_reason::cancelled);
    CHECK(got[2].tokens.empty());
    CHECK(got[2].counts.rounds == 0);
}

TEST_CASE("a listener is told what was committed, with log-probabilities, after its bytes") {
    struct committed_reader : listener {
        std::vector<target_id> tokens;
        std::vector<token_report> reports;
        std::size_t calls = 0, throws_at = ~std::size_t{0}, given = 0, rounds = 0;
        bool bytes(std::string_view text, token_origin) override {
            given += text.size();
            return true;
        }
        bool round(const round_result&) override { return ++rounds, true; }
        void committed(std::span<const target_id> some,
                       std::span<const token_report> their) override {
            if (calls++ == throws_at)
                throw std::runtime_error("once");
            CHECK((given > 0 || some.size() == 1)); // an end token has no bytes
            tokens.insert(tokens.end(), some.begin(), some.end());
            reports.insert(reports.end(), their.begin(), their.end());
        }
    };
    for (const rule how : {rule::slem, rule::autoregressive, rule::tli})
        for (const std::size_t throws_at : {~std::size_t{0}, std::size_t{0}, std::size_t{2}})
            for (const bool reported : {false, true}) {
                CAPTURE(about(how).name, throws_at, reported);
                toys x;
                speculation pair = x.pair();
                const auto prompt = x.words.encode("ab c");
                committed_reader reader;
                reader.throws_at = throws_at;
                decode_settings s = fixed(how, 0.7F);
                s.limits.max_tokens = 11; // inside a round
                if (reported)
                    s.log_probabilities = 2;
                const auto text = pair.open({.prompt = prompt, .reader = &reader}, s);
                std::size_t threw = 0;
                while (text->finish() == finish_reason::none)
                    try {
                        (void)advance(*text, pair.target_models());
                    } catch (const std::runtime_error&) {
                        ++threw;
                    }
                CHECK(threw == (throws_at < 3 ? 1 : 0));
                const decode_result result = text->result();
                CHECK(reader.tokens == result.tokens);
                CHECK(reader.rounds == result.counts.rounds);
                REQUIRE(reader.reports.size() == (reported ? result.tokens.size() : 0));
                for (std::size_t i = 0; i < reader.reports.size(); ++i) {
                    CHECK(reader.reports[i].chosen.token == result.tokens[i]);
                    CHECK(reader.reports[i].likeliest.size() == 2);
                }
            }
}

TEST_CASE("a decoder knows control tokens by name") {
    toys x;
    const speculation pair = x.pair();
    const vocabulary& table = pair.target_table();
    REQUIRE(table.kind(toy_pair::end.index()) == token_kind::control);
    CHECK(pair.control(table.entry(toy_pair::end.index())) == toy_pair::end);
    CHECK(pair.control("a") == std::nullopt); // which is text
    CHECK(pair.control("no such token") == std::nullopt);
}

/// Once, at the chosen call.
struct once {
    std::size_t calls = 0, throws_at = ~std::size_t{0};
    void call() {
        if (calls++ == throws_at)
            throw std::runtime_error("once");
    }
};

TEST_CASE(
    "a text goes on through what readers, predictors and questions throw: each is told once") {
    struct counted : listener {
        once* throws = nullptr;
        std::size_t rounds = 0;
        std::string text;
        bool bytes(std::string_view given, token_origin) override {
            text += given;
            return true;
        }
        bool round(const round_result&) override {
            throws->call();
            return ++rounds, true;
        }
    };
    struct predictor : learner {
        once* throws;
        std::size_t taught = 0;
        [[nodiscard]] law_version version() const { return taught; }
        [[nodiscard]] double accept(const draft_progress&) const { return 0.9; }
        [[nodiscard]] double next(const draft_progress&) const { return 0.9; }
        void learn(const draft_outcome&) {
            throws->call();
            ++taught;
        }
    };
    const auto decode = [](std::size_t who, std::size_t at) {
        toys x;
        speculation pair = x.pair();
        once reads, learns, asks;
        (who == 0 ? reads : who == 1 ? learns : asks).throws_at = at;
        counted reader;
        reader.throws = &reads;
        predictor own{{}, &learns};
        any_predictor any(own);
        const auto question = [&] { return asks.call(), false; };
        decode_settings s = fixed(rule::slrs, 1);
        s.lengths = {.kind = length_kind::predicted, .length = 4, .predictor = &any};
        s.log_probabilities = 1;
        s.cancelled = question;
        const auto prompt = x.words.encode("ab c");
        const auto text = pair.open({.prompt = prompt, .reader = &reader}, s);
        std::size_t threw = 0;
        for (bool more = true; more;)
            try {
                more = advance(*text, pair.target_models());
            } catch (const std::runtime_error&) {
                ++threw;
            }
        CHECK(threw == (at < 5 ? 1 : 0));
        decode_result result = text->result();
        CHECK(reader.rounds == result.counts.rounds);
        CHECK(own.taught == result.counts.rounds);
        CHECK(result.extra_forwards.size() == result.counts.rounds);
        CHECK(reader.text == result.text);
        return result;
    };
    const decode_result whole = decode(0, ~std::size_t{0});
    CHECK(whole.counts.rounds > 5);
    for (std::size_t who = 0; who < 3; ++who)
        for (std::size_t at = 0; at < 5; ++at) {
            CAPTURE(who, at);
            const decode_result text = decode(who, at);
            CHECK(text.tokens == whole.tokens);
            CHECK(text.text == whole.text);
            CHECK(text.first_rows_known == whole.first_rows_known);
            REQUIRE(text.log_probabilities.size() == whole.log_probabilities.size());
            for (std::size_t i = 0; i < text.tokens.size(); ++i)
                CHECK(text.log_probabilities[i].chosen.token == text.tokens[i]);
        }
}

} // namespace text_tests
