// SPDX-License-Identifier: MIT
#include <specdec/decode/generate.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/archetypes.hpp"
#include "support/decoding.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// Both models know a text by heart, letter by letter, and end it: every proposal is accepted.
struct known_text {
    std::string text;
    toy_pair two{};
    std::string prompt = "c";

    struct outcome {
        finish_reason why;
        recorder reader;
        std::string committed; ///< text behind the prompt
        std::size_t tokens;    ///< committed behind the prompt
        statistics counts;
    };

    template <class B>
    outcome run(B bridge, std::size_t draft_length, const generation_limits& limits,
                recorder reader = {}, std::size_t capacity = 100) const {
        auto target = knowing(two.target, prompt + text, toy_pair::end, 1);
        auto draft = knowing(two.draft, prompt + text, toy_pair::stop, 1);
        model_drafter drafter(draft);
        philox_coin coin(1);
        session decoder(std::move(bridge), token_rejection{},
                        {.target = {.temperature = 0},
                         .draft = {.temperature = 0},
                         .capacity = capacity,
                         .end_ids = {toy_pair::end}});
        decoder.start(two.encode(prompt), std::vector{toy_pair::bos});
        const auto why = generate(decoder, target, drafter, fixed_length{draft_length}, coin,
                                  two.target, limits, reader);
        const auto tokens = decoder.tokens();
        return {why, reader, text_of(two.target, tokens).substr(prompt.size()), tokens.size() - 1,
                decoder.counts()};
    }
};

generation_limits stop_at(std::vector<std::string> stops) {
    return {256, std::move(stops)};
}

} // namespace

TEST_CASE("an end token inside an accepted run ends the text, nothing is drawn behind it") {
    const known_text known{"ccbcb"};
    for (std::size_t gamma = 0; gamma <= 8; ++gamma) {
        const auto o = known.run(known.two.tli(8), gamma, {});
        CAPTURE(gamma);
        CHECK(o.why == finish_reason::end_token);
        CHECK(o.reader.text == "ccbcb");
        CHECK(o.committed == "ccbcb"); // the end token is committed and is no text
        CHECK(o.tokens == 6);
        CHECK(o.counts.committed == 6);
        if (gamma == 8) {
            CHECK(o.counts.rounds == 1);
            CHECK(o.counts.accepted == 6);
            CHECK(o.counts.free == 0); // nothing was drawn behind the end
            CHECK(o.counts.discarded == 0);
        }
    }
}

TEST_CASE("a stop string ends the text before it: inside a run, across tokens and rounds") {
    const known_text known{"ccbcbaacb"};
    for (std::size_t gamma = 0; gamma <= 8; ++gamma) {
        CAPTURE(gamma);
        const auto inside = known.run(known.two.tli(8), gamma, stop_at({"zz", "bc"}));
        CHECK(inside.why == finish_reason::stop_string);
        CHECK(inside.reader.text == "cc");
        CHECK(inside.committed == "ccbc"); // its tokens are committed
        const auto whole = known.run(known.two.tli(8), gamma, stop_at({"ccbcbaa"}));
        CHECK(whole.reader.text.empty());
        CHECK(whole.committed == "ccbcbaa");
        const auto none = known.run(known.two.tli(8), gamma, stop_at({"cbb", "acbc"}));
        CHECK(none.why == finish_reason::end_token);
        CHECK(none.reader.text == "ccbcbaacb"); // the end releases what was held back
    }
}

TEST_CASE("the limit of tokens is exact, inside a run too") {
    const known_text known{"ccbcbaacb"};
    for (std::size_t gamma = 0; gamma <= 8; ++gamma)
        for (std::size_t most = 0; most <= 9; ++most) {
            const auto o = known.run(known.two.tli(8), gamma, {most, {}});
            CHECK(o.why == finish_reason::max_tokens);
            CHECK(o.tokens == most);
            CHECK(o.reader.text == known.text.substr(0, most));
            CHECK(o.counts.discarded == 0);
        }
    // The end token is the last one the limit allows.
    CHECK(known.run(known.two.tli(8), 8, {10, {}}).why == finish_reason::end_token);
}

TEST_CASE("bytes held back for a stop string are given at the limit") {
    const known_text known{"ccb"};
    const auto o = known.run(known.two.tli(8), 2, {3, {"cba", "ba"}});
    CHECK(o.why == finish_reason::max_tokens);
    CHECK(o.reader.text == "ccb");
}

TEST_CASE("a full context ends the text") {
    const known_text known{"ccbcbaacb"};
    for (std::size_t gamma = 0; gamma <= 8; ++gamma) {
        const auto o = known.run(known.two.tli(8), gamma, {}, {}, 6);
        CHECK(o.why == finish_reason::context_full);
        CHECK(o.tokens == 5);
        CHECK(o.reader.text == "ccbcb");
    }
}

TEST_CASE("the reader cancels: from bytes behind the token, from a round before it is committed") {
    const known_text known{"ccbcbaacb"};
    for (std::size_t bytes = 1; bytes < 9; ++bytes) {
        const auto o = known.run(known.two.tli(8), 4, {}, {.cancel_after_bytes = bytes});
        CHECK(o.why == finish_reason::cancelled);
        CHECK(o.reader.text == known.text.substr(0, bytes));
        CHECK(o.committed == o.reader.text);
    }
    const auto o = known.run(known.two.tli(8), 3, {}, {.cancel_after_rounds = 2});
    CHECK(o.why == finish_reason::cancelled);
    CHECK(o.committed == "ccbc");
    CHECK(o.reader.text == "ccbc");
    CHECK(o.counts.rounds == 2); // paid for
    CHECK(o.counts.discarded == 4);
}

TEST_CASE("a reader that throws leaves what was committed before") {
    struct thrower : silent_reader {
        std::size_t left = 6;
        bool bytes(std::string_view, token_origin) {
            if (left-- == 0)
                throw std::runtime_error("closed");
            return true;
        }
    } reader;
    toy_world world;
    begun_text begun(world, world.two.slem(4), exact_match{}, world.settings(1), 3);
    auto& [target, draft, drafter, coin, decoder] = begun;
    CHECK_THROWS_AS(generate(decoder, target, drafter, fixed_length{4}, coin, world.two.target,
                             generation_limits{}, reader),
                    std::runtime_error);
    const auto tokens = decoder.tokens();
    const std::vector<target_id> before(
        tokens.begin() + static_cast<std::ptrdiff_t>(world.prompt.size()), tokens.end());
    const auto expected = target_alone(world, 1, coin, 40);
    REQUIRE(before.size() <= 6);
    CHECK(std::equal(before.begin(), before.end(), expected.begin()));
    const auto rest = play(decoder, target, drafter, fixed_length{4}, coin, 40 - before.size());
    CHECK(std::equal(rest.begin(), rest.end(),
                     expected.begin() + static_cast<std::ptrdiff_t>(before.size())));
}

TEST_CASE("accepted, corrected and free bytes keep their origin") {
    const known_text known{"ccbcbaacb"};
    const auto o = known.run(known.two.tli(8), 2, {9, {}});
    for (std::size_t i = 0; i < 9; ++i)
        CHECK(o.reader.origins[i] == (i % 3 == 2 ? token_origin::free : token_origin::accepted));
    for (const token_origin origin : known.run(known.two.tli(8), 0, {9, {}}).reader.origins)
        CHECK(origin == token_origin::free);
}

TEST_CASE("whatever the draft, the text is that of the committed tokens and of the target alone") {
    for (const double control : {-40.0, 3.0}) { // without and with ends
        toy_world world{.control = control};
        for_every_rule([&](const char* rule_name, auto rule) {
            for (const float temperature : {0.0F, 1.0F})
                for (const std::size_t gamma : {0U, 1U, 4U}) {
                    std::string alone;
                    const auto check = [&](const char* name, auto bridge) {
                        CAPTURE(rule_name, name, gamma, temperature);
                        begun_text begun(world, bridge, rule, world.settings(temperature), 11);
                        auto& [target, draft, drafter, coin, decoder] = begun;
                        recorder reader;
                        const auto why = generate(decoder, target, drafter, fixed_length{gamma},
                                                  coin, world.two.target, {50, {}}, reader);
                        const auto tokens = decoder.tokens().subspan(world.prompt.size());
                        REQUIRE(reader.text == text_of(world.two.target, tokens));
                        REQUIRE((why == finish_reason::end_token) ==
                                (tokens.back() == toy_pair::end));
                        for (const target_id t : tokens.first(tokens.size() - 1))
                            REQUIRE(t != toy_pair::end);
                        if (std::string(name) == "none")
                            alone = reader.text;
                        else if (temperature == 0 || std::string(rule_name) == "exact match")
                            REQUIRE(reader.text == alone);
                    };
                    check("none", no_bridge{});
                    for_every_bridge(world, 4, check);
                }
        });
    }
}

TEST_CASE("readers: text alone, nothing at all") {
    const known_text known{"cb"};
    auto target = knowing(known.two.target, known.prompt + known.text, toy_pair::end, 1);
    no_drafter drafter;
    philox_coin coin(1);
    session decoder(no_bridge{}, exact_match{},
                    {.target = {.temperature = 0}, .end_ids = {toy_pair::end}});
    std::string text;
    decoder.start(known.two.encode("c"));
    CHECK(generate(decoder, target, drafter, fixed_length{}, coin, known.two.target, {},
                   text_reader([&](std::string_view bytes, token_origin) {
                       text += bytes;
                       return true;
                   })) == finish_reason::end_token);
    CHECK(text == "cb");
    decoder.start(known.two.encode("c"));
    CHECK(generate(decoder, target, drafter, fixed_length{}, coin, known.two.target, {},
                   silent_reader{}) == finish_reason::end_token);
}

TEST_CASE("generate runs with nothing but what the concepts promise") {
    const tokenizer_archetype<target_id> target_tokenizer;
    const tokenizer_archetype<draft_id> draft_tokenizer;
    const id_map map = id_map::identity(4, 4);
    model_archetype<target_id> target(4);
    drafter_archetype drafter;
    coin_archetype coin;
    session decoder(slem_bridge(target_tokenizer, draft_tokenizer, map, 64, 3), token_rejection{},
                    {.capacity = 64});
    decoder.start(std::vector{target_id{0}});
    recorder reader;
    CHECK(generate(decoder, target, drafter, stop_rule_archetype(), coin, target_tokenizer,
                   generation_limits{20, {}}, reader,
                   clock_archetype()) == finish_reason::max_tokens);
    CHECK(decoder.tokens().size() == 21);
}
