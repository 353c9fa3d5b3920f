// SPDX-License-Identifier: MIT
#include <specdec/decode/text_run.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/decoding.hpp"
#include <specdec/decode/generate.hpp>

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("a text in steps is the text of generate(), rounds drafted in vain or not") {
    const toy_world world;
    for (const bool in_vain : {false, true}) {
        recorder readers[2];
        std::vector<target_id> tokens[2];
        finish_reason why[2]{};
        for (const int way : {0, 1}) {
            begun_text begun(world, world.two.tli(3, 512), token_rejection{}, world.settings(1), 3);
            auto& [target, draft, drafter, coin, decoder] = begun;
            const fixed_length stop{3};
            const generation_limits limits{40, {"abc"}};
            if (way == 0) {
                why[way] = generate(decoder, target, drafter, stop, coin, world.two.target, limits,
                                    readers[way]);
            } else {
                text_run run(decoder, drafter, stop, coin, world.two.target, limits, readers[way]);
                CHECK(run.finish() == finish_reason::none);
                while (run.draft(target.capacity())) {
                    if (in_vain) // a pass that failed
                        REQUIRE(run.draft(target.capacity()));
                    run.take(run.session().score(target));
                }
                why[way] = run.finish();
                CHECK_FALSE(run.draft(target.capacity())); // it stays at its end
                CHECK(run.finish() == why[way]);
            }
            tokens[way].assign(decoder.tokens().begin(), decoder.tokens().end());
        }
        CHECK(why[0] == why[1]);
        CHECK(tokens[0] == tokens[1]);
        CHECK(readers[0].text == readers[1].text);
        CHECK(readers[0].rounds == readers[1].rounds);
    }
}

TEST_CASE("a text that may have no tokens has ended before its first round") {
    const toy_world world;
    no_drafter nobody;
    philox_coin coin(3);
    recorder reader;
    const fixed_length stop{3};
    session decoder(no_bridge{}, exact_match{}, world.settings(1));
    decoder.start(world.prompt);
    text_run run(decoder, nobody, stop, coin, world.two.target, {0, {}}, reader);
    CHECK_FALSE(run.draft(100));
    CHECK(run.finish() == finish_reason::max_tokens);
}

TEST_CASE("a reader that throws at the end has not seen it") {
    struct at_the_end : recorder {
        bool bytes(std::string_view, token_origin) { throw "reader"; }
    };
    const toy_world world;
    target_text_model target = world.target_model();
    no_drafter nobody;
    philox_coin coin(3);
    at_the_end reader;
    const fixed_length stop{3};
    session decoder(no_bridge{}, exact_match{}, world.settings(1));
    decoder.start(world.prompt);
    std::vector<std::string> held_back; // any first byte may begin one of them
    for (const char c : std::string("abc "))
        held_back.push_back(std::string(1, c) + "never");
    text_run run(decoder, nobody, stop, coin, world.two.target, {1, held_back}, reader);
    REQUIRE(run.draft(100));
    CHECK_THROWS(run.take(run.session().score(target)));
    CHECK(run.finish() == finish_reason::none);
}
