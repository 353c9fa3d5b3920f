// SPDX-License-Identifier: MIT
// Rounds that overlap, as with a target whose passes nobody waits for: whatever happens to other
// texts, and to the drafter's model, between a draft and its decision, a text is the text alone.
#include <specdec/decode/session.hpp>

#include <deque>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/decoding.hpp"
#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/core/model/shared_model.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr std::size_t length = 60;

/// A drafter's model that counts what it is fed, and that drafters take turns with.
struct counting_model : draft_text_model {
    std::size_t fed = 0;
    void append(std::span<const draft_id> ids) {
        draft_text_model::append(ids);
        fed += ids.size();
    }
    logits_rows<draft_id> score(std::span<const draft_id> ids) {
        fed += ids.size();
        return draft_text_model::score(ids);
    }
};
struct drafting {
    counting_model engine;
    shared_model<draft_id, counting_model> model{engine};
    explicit drafting(const toy_world& world) : engine{world.draft_model()} {}
};

/// A text that goes on by half a round: a draft; the pass over it, the decision and the commit.
template <class B>
struct overlapping {
    target_text_model target;
    model_drafter<shared_model<draft_id, counting_model>> drafter;
    session<B, token_rejection> decoder;
    fixed_length stop;
    philox_coin coin;
    bool drafted = false;

    overlapping(const toy_world& world, const B& bridge, drafting& draft, std::size_t i)
        : target(world.target_model()), drafter(draft.model),
          decoder(bridge, token_rejection{}, world.settings(1)), stop{1 + i}, coin(5, i) {
        const std::string prompts[] = {"ab c a", "c", "b a b"};
        decoder.start(world.two.encode(prompts[i]), world.prefix);
    }
    [[nodiscard]] bool complete() const { return decoder.tokens().size() >= length; }
    [[nodiscard]] std::vector<target_id> tokens() const {
        return {decoder.tokens().begin(), decoder.tokens().end()};
    }
    void go_on() {
        if (!drafted)
            decoder.draft(drafter, stop, coin, length - decoder.tokens().size());
        else
            decoder.commit(decoder.verify(decoder.score(target), coin).tokens.size());
        drafted = !drafted;
    }
};

/// Calls f(name, make) for every bridge, those that ask the drafter again while they decide among
/// them; the n-gram cache is each text's own.
template <class F>
void for_every_maker(const toy_world& world, F&& f) {
    for_every_bridge(
        world, 4, [&](const char* name, const auto& bridge) { f(name, [&] { return bridge; }); });
    std::deque<ngram_cache<no_eviction>> caches;
    f("merge", [&] {
        return make_ngram_merge_bridge(caches.emplace_back(), world.two.target, world.two.draft,
                                       world.two.map, world.two.order, world.capacity,
                                       {.max_draft = 4});
    });
}

} // namespace

TEST_CASE("texts whose rounds overlap in any order are the texts alone") {
    const toy_world world;
    std::mt19937 random(11);
    for_every_maker(world, [&](const char* name, const auto& make) {
        CAPTURE(name);
        using one = overlapping<decltype(make())>;
        drafting draft(world); // drafters take turns with it in the midst of their rounds, too
        std::deque<one> texts;
        for (std::size_t i = 0; i < 3; ++i)
            texts.emplace_back(world, make(), draft, i);
        std::size_t overlaps = 0;
        for (std::size_t left = texts.size(); left > 0;) {
            one& next = texts[random() % texts.size()];
            if (next.complete())
                continue;
            for (const one& other : texts)
                overlaps += &other != &next && other.drafted ? 1U : 0U;
            next.go_on();
            left -= next.complete() ? 1U : 0U;
        }
        CHECK(overlaps > 50);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            drafting own(world);
            one alone(world, make(), own, i);
            while (!alone.complete())
                alone.go_on();
            CHECK(texts[i].tokens() == alone.tokens());
        }
    });
}

TEST_CASE("a drafter's model that is fed a guess of the next round changes no text") {
    toy_world world{.agreement = 0.95};
    for_every_maker(world, [&](const char* name, const auto& make) {
        CAPTURE(name);
        std::vector<target_id> tokens[2];
        std::size_t fed[2]{}; // to draft and to decide
        for (const std::size_t ahead : {0U, 1U}) {
            drafting draft(world);
            overlapping<decltype(make())> t(world, make(), draft, 1);
            model_drafter scout(draft.model);
            while (!t.complete()) {
                std::size_t before = draft.engine.fed;
                t.go_on();
                fed[ahead] += draft.engine.fed - before;
                if (ahead == 1) { // as if all proposals were kept
                    auto context = t.decoder.bridge().context();
                    context.follow(
                        t.decoder.target_edit().append.last(t.decoder.rows_needed() - 1));
                    scout.sync(context.ids(), 0);
                    (void)scout.row();
                }
                before = draft.engine.fed;
                t.go_on();
                fed[ahead] += draft.engine.fed - before;
            }
            tokens[ahead] = t.tokens();
        }
        CHECK(tokens[0] == tokens[1]);
        CHECK(fed[1] < fed[0]);
    });
}
