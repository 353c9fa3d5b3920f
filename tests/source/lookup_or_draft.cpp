// SPDX-License-Identifier: MIT
#include <specdec/source/lookup_or_draft.hpp>

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/no_bridge.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/source/any_source.hpp>
#include <specdec/source/recycled_source.hpp>
#include <specdec/verify/exact_match.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace lookup_or_draft_tests {

using words_type = tiny_tokenizer<target_id>;
using bridge_type = lookup_or_draft<identity_bridge, prompt_lookup, words_type>;

/// Letters; the drafter always says c, at 0.5 of its passes.
struct fixture {
    words_type words{{"a", "b", "c", "d", " "}};
    toy_model<draft_id> model{5, [](const std::vector<draft_id>&) {
                                  return std::vector<float>{0, 0, 9, 0, 0};
                              }};
    model_drafter<toy_model<draft_id>> drafter{model};
    acceptance_table table;
    cost_table costs{{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6}, 0.5, 0};
    philox_coin coin{1};
    bridge_type bridge;

    explicit fixture(bool looks_up = true) : bridge(make(looks_up)) {
        bridge.start(std::vector<draft_id>{});
    }
    [[nodiscard]] bridge_type make(bool looks_up) {
        std::optional<lookup_with<prompt_lookup, words_type, lookup_turns>> lookup;
        if (looks_up)
            lookup.emplace(lookup_with<prompt_lookup, words_type, lookup_turns>{
                {prompt_lookup(1024), words, 6}, lookup_turns(table, costs, costs)});
        return {make_identity_bridge(5, 5, 64, 3), std::move(lookup), 3};
    }
    [[nodiscard]] std::vector<target_id> tokens(const std::string& text) const {
        return encoded(words, text);
    }
    auto propose(std::size_t drafted = 3, std::size_t room = 16) {
        stop = fixed_length{drafted};
        return bridge.propose(drafter, stop, coin,
                              {.round = 5, .max_proposals = room, .sampling = {.temperature = 0}});
    }
    fixed_length stop{};
};

template <class View>
std::string text_of(const fixture& f, const View& draft) {
    std::string out;
    for (const auto& x : draft.proposals)
        out += f.words.bytes(x.token());
    return out;
}

TEST_CASE("lookup beside: found text goes first, else the drafter speaks") {
    fixture f;
    f.bridge.follow(f.tokens("abcd "));
    const auto drafted = f.propose();
    CHECK(text_of(f, drafted) == "ccc");
    CHECK(drafted.looked_up == 0);
    CHECK(drafted.draft_tokens.size() == 3);
    CHECK(drafted.steps.size() == 3);
    CHECK_FALSE(f.bridge.looked_up());
    f.bridge.follow(f.tokens("abcd "));
    const auto found = f.propose();
    CHECK(text_of(f, found) == "abcd a"); // more than the bridge may
    CHECK(found.looked_up == 6);
    CHECK(found.draft_tokens.empty());
    CHECK(found.steps.empty());
    CHECK(f.bridge.looked_up());
    for (const auto& x : found.proposals)
        CHECK(x.probability() == 1);
    CHECK(text_of(f, f.propose(3, 2)) == "ab"); // room
}

TEST_CASE("lookup beside: what is found speaks for a drafter that proposes nothing") {
    fixture f;
    f.bridge.follow(f.tokens("abcd abcd "));
    for (int i = 0; i < 40; ++i) { // the drafter is worth four tokens a round
        (void)f.propose();
        f.bridge.follow(f.tokens("cccc"));
    }
    f.bridge.follow(f.tokens(" dbda dbda"));
    CHECK(f.propose(3).reason == no_draft::none);
    const auto found = f.propose(0);
    CHECK(found.looked_up > 0);
    CHECK(text_of(f, found).front() == ' ');
    CHECK(f.propose(3, 0).reason == no_draft::no_room);
}

TEST_CASE("lookup beside: a bridge that learns of rows is told of them") {
    fixture f;
    toy_model<target_id> target{5, [](const std::vector<target_id>&) {
                                    return std::vector<float>{0, 0, 9, 0, 0};
                                }};
    successor_table table(5);
    using source_type = any_source<philox_coin>;
    session text(lookup_or_draft<source_type, prompt_lookup, words_type>(
                     source_type(recycled_source(table)), {}, 3),
                 exact_match{}, session_settings{.capacity = 16});
    text.start(f.tokens("a"));
    const length_rule stop(fixed_length{3});
    (void)text.round(target, f.drafter, stop, f.coin, 4);
    text.commit(1);
    REQUIRE(table.of(target_id{0}).size() > 0);
    CHECK(table.of(target_id{0})[0].id == target_id{2});
}

TEST_CASE("lookup beside: without a lookup it is the bridge") {
    fixture f(false);
    f.bridge.follow(f.tokens("abcd abcd "));
    const auto draft = f.propose();
    CHECK(text_of(f, draft) == "ccc");
    CHECK(draft.looked_up == 0);
    CHECK(draft.proposals[0].law().probability(draft.proposals[0].token()) == 1);
    CHECK(f.bridge.bridge().target_size() == 5);
    CHECK(f.bridge.context().ids().size() == 10);
    CHECK(f.propose(0).reason == no_draft::stop_rule);
}

TEST_CASE("lookup beside: a session says who spoke") {
    fixture f;
    toy_model<target_id> target(5, [&](const std::vector<target_id>& context) {
        std::vector<float> row(5); // "abcd " over and over, then c
        row[context.size() < 15 ? context.size() % 5 : 2] = 99;
        return row;
    });
    session decoder(f.make(true), exact_match{}, {.capacity = 64});
    decoder.start(f.tokens("abcd abcd "));
    const fixed_length three{3};
    const round_result first = decoder.round(target, f.drafter, three, f.coin, 8);
    CHECK(first.accepted == 5); // of six that were found
    CHECK(first.origin(0) == token_origin::looked_up);
    CHECK(first.origin(4) == token_origin::looked_up);
    CHECK(first.origin(5) == token_origin::corrected);
    decoder.commit(6);
    const round_result second = decoder.round(target, f.drafter, three, f.coin, 8);
    CHECK(second.accepted == 3);
    CHECK(second.origin(0) == token_origin::accepted);
    decoder.commit(4);
    CHECK(decoder.counts().looked_up == 6);
    CHECK(decoder.counts().looked_up_accepted == 5);
    CHECK(decoder.counts().proposed == 9);
    CHECK(decoder.counts().draft_tokens == 3);
}

} // namespace lookup_or_draft_tests
