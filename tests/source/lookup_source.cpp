// SPDX-License-Identifier: MIT
#include <specdec/source/lookup_source.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/session.hpp>
#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/lookup/suffix_lookup.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/exact_match.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace lookup_source_tests {

using words_type = tiny_tokenizer<target_id>;
using bridge_type = lookup_source<prompt_lookup, words_type>;
static_assert(Bridge<bridge_type, no_drafter, fixed_length, philox_coin>);

/// Letters, two tokens of several bytes, one that is no text.
struct fixture {
    words_type words{{"a", "b", "c", "d", "e", " ", "ab", "cd e", "<mark>"}};
    bridge_type bridge;
    philox_coin coin{1};
    no_drafter nobody{};

    explicit fixture(lookup_limits limits = {})
        : bridge(prompt_lookup(1024), words, std::move(limits)) {
        bridge.start({});
    }
    void say(const std::string& text) { bridge.follow(encoded(words, text)); }
    template <class Stop>
    draft_view<one_hot_law<target_id>> propose(const Stop& stop, std::size_t room = 32,
                                               std::vector<target_id> ends = {}) {
        return bridge.propose(nobody, stop, coin,
                              {.round = 5, .max_proposals = room, .end_ids = ends});
    }
    std::string text(const draft_view<one_hot_law<target_id>>& draft) const {
        std::string out;
        for (const auto& x : draft.proposals)
            out += std::string(words.bytes(x.token())) + "|";
        return out;
    }
};
constexpr fixed_length any{32};

TEST_CASE("lookup bridge: found text in the target's tokens, each with all the mass") {
    fixture f;
    f.say("dada cd ee ab dada ");
    const auto draft = f.propose(any);
    CHECK(f.text(draft) == "cd e|e| |ab| |d|a|d|a| |cd e|e| |ab| |d|"); // round its own end
    CHECK(draft.proposals.size() == 16);
    CHECK(draft.looked_up == 16);
    CHECK(draft.draft_tokens.empty());
    CHECK(draft.reason == no_draft::none);
    for (const auto& x : draft.proposals)
        CHECK(x.probability() == 1);
    REQUIRE(f.bridge.steps().size() == 16);
    for (std::size_t i = 0; i < 16; ++i) {
        CHECK(f.bridge.steps()[i].drafted == i + 1);
        CHECK(f.bridge.steps()[i].sure > 0);
        CHECK(f.bridge.steps()[i].sure < 1);
        CHECK(f.bridge.steps()[i].last == 1);
    }
    CHECK(f.bridge.steps()[0].sure < f.bridge.steps()[1].sure); // four bytes, one
}

TEST_CASE("lookup bridge: a token that was begun is gone on with") {
    fixture f;
    f.say("eabbcd e d eabb");
    f.bridge.follow(std::vector{target_id{2}}); // c, where the target would have said "cd e"
    CHECK(f.text(f.propose(fixed_length{3})) == "d| |e|");
}

TEST_CASE("lookup bridge: it says why nothing is proposed") {
    fixture f;
    CHECK(f.propose(any).reason == no_draft::nothing_found);
    f.say("abcde ");
    CHECK(f.propose(any).reason == no_draft::nothing_found);
    f.say("abcde ");
    CHECK(f.propose(any, 0).reason == no_draft::no_room);
    CHECK(f.propose(fixed_length{0}).reason == no_draft::stop_rule);
    CHECK(f.propose(any).reason == no_draft::none);
    acceptance_table table;
    const cost_table dear{{1, 2}, 0, 0};
    fixture costly({.length = lookup_length(table, dear)});
    costly.say("abcde abcde ");
    CHECK(costly.propose(any).reason == no_draft::stop_rule);
}

TEST_CASE("lookup bridge: stop rule, room, limits and ends cut a draft") {
    fixture f;
    f.say("daba daba ");
    CHECK(f.text(f.propose(fixed_length{2})) == "d|ab|");
    CHECK(f.text(f.propose(any, 3)) == "d|ab|a|");
    CHECK(f.text(f.propose(any, 9, {target_id{6}})) == "d|ab|");
    CHECK(f.propose(any).proposals.size() == 16);
    CHECK(f.text(f.propose(confidence{1.0, 9})) == "d|"); // behind the first that is not sure
    fixture few({.max_draft = 4});
    few.say("daba daba ");
    CHECK(few.propose(any).proposals.size() == 4);
}

TEST_CASE("lookup bridge: an abandoned proposal leaves no trace, another text none of the last") {
    fixture f, other;
    for (fixture* x : {&f, &other})
        x->say("abc de abc ");
    const std::string once = f.text(f.propose(any));
    CHECK_FALSE(once.empty());
    CHECK(f.text(f.propose(any)) == once);
    for (fixture* x : {&f, &other})
        x->say("d");
    CHECK(f.text(f.propose(any)) == other.text(other.propose(any)));
    f.bridge.start({});
    f.say("c abc ");
    CHECK(f.propose(any).reason == no_draft::nothing_found);
}

TEST_CASE("lookup bridge: nothing goes on across a control token, which matches itself") {
    fixture f;
    f.say("abcde");
    f.bridge.follow(std::vector{target_id{8}});
    f.say("cabcd");
    CHECK(f.text(f.propose(any)) == "e|");
    f.say("e");
    f.bridge.follow(std::vector{target_id{8}});
    CHECK(f.text(f.propose(fixed_length{2})) == "c|ab|");
}

TEST_CASE("lookup bridge: what comes of it is learnt, proposed or not") {
    acceptance_table table;
    const cost_table costs{{1, 1.3}, 0, 0};
    fixture f({.length = lookup_length(table, costs)});
    const draft_progress first{.drafted = 1, .sure = 0.6};
    const double before = table.accept(first);
    f.say("abcd abcd "); // a prompt teaches nothing
    CHECK(table.accept(first) == before);
    std::size_t learnt = 0;
    for (int i = 0; i < 50; ++i) {
        (void)f.propose(any);
        const double was = table.accept(f.bridge.steps().empty() ? first : f.bridge.steps()[0]);
        const draft_progress step = f.bridge.steps().empty() ? first : f.bridge.steps()[0];
        f.say("abcd ");
        learnt += table.accept(step) > was ? 1U : 0U;
    }
    CHECK(learnt > 40);
    CHECK(f.propose(any).proposals.size() > 8);
    for (int i = 0; i < 400; ++i) {
        (void)f.propose(any);
        f.say(i % 2 == 0 ? "e" : "c");
        f.say("abcd ");
    }
    f.say("abcd ");
    CHECK(f.propose(any).proposals.size() < 12);
}

TEST_CASE("lookup bridge: a session counts what was looked up") {
    fixture f;
    session decoder(bridge_type(prompt_lookup(1024), f.words), exact_match{}, {.capacity = 64});
    decoder.start(encoded(f.words, "abc abc "));
    decoder.draft(f.nobody, any, f.coin, 8);
    const std::size_t rows = decoder.rows_needed();
    REQUIRE(rows == 8);
    std::vector<float> logits(rows * 9, 0.0F);
    const std::vector<target_id> wanted{target_id{6}, target_id{2}, target_id{4}}; // ab c e
    for (std::size_t i = 0; i < rows; ++i)
        logits[i * 9 + wanted[i < 3 ? i : 2].index()] = 200;
    decoder.target_fed(decoder.target_edit());
    const round_result r =
        decoder.verify(logits_rows<target_id>{logits.data(), rows, 9, 9}, f.coin);
    CHECK(r.accepted == 2);
    decoder.commit(3);
    CHECK(decoder.counts().looked_up == 7);
    CHECK(decoder.counts().looked_up_accepted == 2);
    CHECK(decoder.counts().proposed == 7);
    CHECK(decoder.counts().draft_tokens == 0);
}

} // namespace lookup_source_tests
