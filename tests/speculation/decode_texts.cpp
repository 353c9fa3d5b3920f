// SPDX-License-Identifier: MIT
// Several texts at once of which some fail: the others are what they are without them.
#include <specdec/speculation/decode_texts.hpp>

#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace decode_texts_tests {

/// Six texts of a pair of two sequences each.
struct six_texts {
    toys x{2};
    speculation pair = x.pair();
    std::vector<target_id> prompt = x.words.encode("ab c");
    std::vector<text_request> requests = [&] {
        std::vector<text_request> all;
        for (std::size_t i = 0; i < 6; ++i)
            all.push_back({.prompt = prompt,
                           .sequence = i,
                           .where = "p.txt: line " + std::to_string(i + 1),
                           .limits = generation_limits{.max_tokens = 8 + 6 * (i % 3)}});
        return all;
    }();

    [[nodiscard]] decode_results run(const decode_settings& s) { return pair.run(requests, s); }
};

std::size_t count_failed(const decode_results& found) {
    std::size_t n = 0;
    for (const decode_result& text : found.texts)
        n += text.finish == finish_reason::failed ? 1U : 0U;
    return n;
}

/// Those that did not fail are as they are by themselves, those that did have a beginning of it.
void check_others(const decode_results& found, const decode_results& wanted) {
    for (std::size_t i = 0; i < wanted.texts.size(); ++i) {
        const decode_result &is = found.texts[i], &whole = wanted.texts[i];
        CAPTURE(i, is.error);
        if (is.finish != finish_reason::failed) {
            CHECK(is.tokens == whole.tokens);
            CHECK(is.text == whole.text);
            CHECK(is.finish == whole.finish);
            CHECK(is.error.empty());
            CHECK(is.thrown == nullptr);
            continue;
        }
        CHECK(is.thrown != nullptr);
        CHECK(is.tokens.size() <= whole.tokens.size());
        for (std::size_t k = 0; k < is.tokens.size() && k < whole.tokens.size(); ++k)
            CHECK(is.tokens[k] == whole.tokens[k]);
    }
}

TEST_CASE("run: the time to the first token is that of the first round with tokens") {
    struct first_round : listener {
        std::size_t tokens = 0;
        bool round(const round_result& r) override {
            tokens = tokens == 0 ? r.tokens.size() : tokens;
            return true;
        }
    };
    six_texts some;
    std::vector<first_round> readers(6);
    for (std::size_t i = 0; i < 6; ++i)
        some.requests[i].reader = &readers[i];
    const decode_results found = some.run(fixed(rule::slem, 2));
    for (std::size_t i = 0; i < 6; ++i) {
        const decode_result& text = found.texts[i];
        CAPTURE(i, text.tokens.size());
        CHECK(text.first_tokens == readers[i].tokens);
        CHECK(text.time_to_first_token > 0);
        CHECK(text.time_to_first_token < text.seconds);
        CHECK(text.time_per_output_token() ==
              Approx((text.seconds - text.time_to_first_token) /
                     static_cast<double>(text.tokens.size() - readers[i].tokens)));
    }
    CHECK(found.texts[0].time_to_first_token < found.texts[5].time_to_first_token); // it waits
    some.requests.resize(1);
    some.requests[0].limits->max_tokens = 1;
    CHECK(some.run(fixed(rule::slem, 2)).texts[0].time_per_output_token() == 0);
    CHECK(decode_result{}.time_per_output_token() == 0);
}

TEST_CASE("run: a pass of the target that fails ends the texts in it, all others are returned") {
    for (const rule how : {rule::autoregressive, rule::slem, rule::tli_exact, rule::lookup})
        for (const std::size_t pass : {0U, 1U, 3U, 9U}) {
            six_texts some;
            decode_settings s = fixed(how, 1);
            s.carry.lengths = s.lookup.shared = false;
            const decode_results wanted = some.run(s);
            some.x.target.fails_at = some.x.target.passes + pass;
            const decode_results found = some.run(s);
            CAPTURE(about(how).name, pass);
            CHECK(count_failed(found) == 2);
            check_others(found, wanted);
            for (std::size_t i = 0; i < 6; ++i)
                if (found.texts[i].finish == finish_reason::failed)
                    CHECK(found.texts[i].error == "p.txt: line " + std::to_string(i + 1) +
                                                      ": batch_of: pass: told to fail");
            CHECK_THROWS_WITH(found.require_none_failed(), Contains(": batch_of: pass"));
            CHECK_NOTHROW(wanted.require_none_failed());
            check_others(some.run(s), wanted); // all seats are free again
        }
}

TEST_CASE("run: what a text's own processor, drafter or reader throws ends this text alone") {
    struct throwing : listener {
        std::size_t left = 2;
        bool round(const round_result&) override {
            if (left-- == 0)
                throw std::runtime_error("the reader fails");
            return true;
        }
    };
    for (const std::size_t who : {0U, 1U, 2U}) {
        six_texts some;
        decode_settings s = fixed(rule::slem, 1);
        s.carry.lengths = false;
        s.drafter_must_work = true; // else the text goes on (drafter_failures.cpp)
        const decode_results wanted = some.run(s);
        throwing reader;
        std::size_t calls = 0;
        const auto fails = [&](const auto&, std::span<float>) {
            if (++calls == 5)
                throw std::runtime_error("the processor fails");
        };
        if (who == 0)
            some.requests[3].process = [&](std::span<const target_id> t, std::span<float> row) {
                fails(t, row);
            };
        if (who == 1)
            some.requests[3].process_draft = [&](std::span<const draft_id> t,
                                                 std::span<float> row) { fails(t, row); };
        if (who == 2)
            some.requests[3].reader = &reader;
        const decode_results found = some.run(s);
        CAPTURE(who);
        CHECK(count_failed(found) == 1);
        CHECK(found.texts[3].error == (who == 2 ? "the reader fails" : "the processor fails"));
        CHECK_THROWS_AS(found.require_none_failed(), std::runtime_error);
        check_others(found, wanted);
    }
}

TEST_CASE("run: if no text is left to return, it throws what the first of them threw") {
    six_texts some;
    const auto fails = [](std::span<const target_id>, std::span<float>) { throw std::bad_alloc(); };
    for (text_request& request : some.requests)
        request.process = fails;
    CHECK_THROWS_AS(some.run(fixed(rule::slem, 1)), std::bad_alloc);
    some.requests.resize(1);
    CHECK_THROWS_AS(some.run(fixed(rule::slem, 1)), std::bad_alloc);
    CHECK_THROWS_AS(some.pair.generate("ab", fixed(rule::slem, 1), {.process = fails}),
                    std::bad_alloc);
    CHECK(some.pair.run({}, fixed(rule::slem, 1)).texts.empty());
    CHECK(some.pair.generate("ab", fixed(rule::slem, 1)).tokens.size() == 40);
}

TEST_CASE("run: what is thrown that is no std::exception is told, too") {
    six_texts some;
    some.requests[1].process = [](std::span<const target_id>, std::span<float>) { throw 5; };
    const decode_results found = some.run(fixed(rule::slem, 1));
    CHECK(count_failed(found) == 1);
    CHECK(found.texts[1].error == "p.txt: line 2: an exception of no known type");
    CHECK_THROWS_AS(found.require_none_failed(), int);
}

} // namespace decode_texts_tests
