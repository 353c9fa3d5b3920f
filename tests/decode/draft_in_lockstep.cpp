// SPDX-License-Identifier: MIT
// Texts that draft together draft what each drafts alone, in as few passes of the drafters' model
// as the longest draft of a round has steps.
#include <specdec/decode/draft_in_lockstep.hpp>

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/row_batching_model.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/draft/lookup/lookup_memory.hpp>
#include <specdec/draft/processed_drafter.hpp>
#include <specdec/draft/windowed_drafter.hpp>
#include <specdec/process/penalties.hpp>
#include <specdec/source/lookup_source.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>

#include "support/batch_of.hpp"
#include "support/decoding.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace draft_in_lockstep_tests {

using targets = batch_of<target_id, target_text_model>;
using drafters = batch_of<draft_id, draft_text_model>;
using gathered = row_batching_model<draft_id, drafters>;
using seat = one_sequence<draft_id, gathered>;

/// What was drafted, round by round.
struct drafts_reader : recorder {
    std::vector<std::vector<draft_id>> drafts{};
    std::vector<std::size_t> proposed{};
    bool round(const round_result& r) {
        drafts.emplace_back(r.drafted.begin(), r.drafted.end());
        proposed.push_back(r.proposed.size());
        return recorder::round(r);
    }
};

/// Text number i, whose drafter is a sequence of Model, seen through a short window and a penalty
/// as a pair's texts see theirs.
template <class B, class V, class Model>
struct drafted_text {
    using penalty = repetition_penalty<draft_id>;
    using windowed = windowed_drafter<model_drafter<Model>>;
    using drafter_type = processed_drafter<windowed, penalty>;

    Model model;
    model_drafter<Model> full{model};
    windowed window;
    drafter_type drafter;
    session<B, V> decoder;
    confidence stop;
    philox_coin coin;
    generation_limits limits;
    drafts_reader reader{};
    using run_type = text_run<session<B, V>, drafter_type, confidence, philox_coin,
                              tiny_tokenizer<target_id>, drafts_reader>;
    std::optional<run_type> run{};

    drafted_text(const toy_world& world, Model m, B bridge, V rule, std::size_t i)
        : model(std::move(m)), window(full, {.room = 6}),
          drafter(window, penalty(world.two.draft.vocabulary_size(), 1.1F), 4 * world.capacity),
          decoder(std::move(bridge), rule, world.settings(1)), stop{i == 2 ? 0.4 : 0, 1 + i % 5},
          coin(7, i), limits{20 + 7 * i, {}} {
        const std::string prompts[] = {"ab c a", "c", "b a b", "a c c b a", "ab"};
        decoder.start(world.two.encode(prompts[i % 5]), world.prefix);
        run.emplace(decoder, drafter, stop, coin, world.two.target, limits, reader);
    }
};

constexpr std::size_t five = 5;

struct short_windows : toy_world {
    short_windows() { capacity = 256; } // of the target; the drafters' contexts are shorter
};
draft_text_model short_model(const toy_world& world) {
    return {world.two.draft.table(), {.seed = 2, .agreement = 0.8, .control = -40, .capacity = 40}};
}

/// Texts whose drafters are sequences of one model; those for whom there is room have joined.
template <class B, class V>
struct texts_at_once {
    using text = drafted_text<B, V, seat>;
    targets target;
    drafters models;
    gathered rows{models};
    std::deque<text> all{};
    batch<targets, typename text::run_type> side_by_side;
    std::size_t joined = 0;

    texts_at_once(const toy_world& world, std::size_t texts, std::size_t room,
                  const draft_text_model& model, B bridge, V rule, bool together = true)
        : target(room, world.target_model()), models(texts, model),
          side_by_side(target, {}, together) {
        for (std::size_t i = 0; i < texts; ++i)
            all.emplace_back(world, seat(rows, i), bridge, rule, i);
        join();
    }
    void join() {
        while (side_by_side.room() && joined < all.size())
            side_by_side.join(*all[joined++].run);
    }
};

/// Five texts, three at a time: the others join as soon as one has ended.
template <class B, class V>
void check_same(const char* name, const toy_world& world, B bridge, V rule, bool in_steps = true) {
    using alone = drafted_text<B, V, draft_text_model>;
    texts_at_once<B, V> texts(world, five, 3, short_model(world), bridge, rule);
    do
        texts.join();
    while (texts.side_by_side.round() || texts.joined < five);
    std::size_t forwards = 0;
    for (std::size_t i = 0; i < five; ++i) {
        CAPTURE(name, i);
        alone own(world, short_model(world), bridge, rule, i);
        target_text_model model = world.target_model();
        (void)generate(*own.run, model);
        CHECK(std::vector(texts.all[i].decoder.tokens().begin(),
                          texts.all[i].decoder.tokens().end()) ==
              std::vector(own.decoder.tokens().begin(), own.decoder.tokens().end()));
        CHECK(texts.all[i].reader.text == own.reader.text);
        CHECK(texts.all[i].reader.drafts == own.reader.drafts);
        CHECK(texts.all[i].reader.proposed == own.reader.proposed);
        for (const auto& draft : own.reader.drafts)
            forwards += draft.size();
    }
    CAPTURE(name, forwards, texts.models.passes);
    CHECK(texts.rows.passes() == texts.models.passes);
    if (in_steps)
        CHECK(texts.models.passes < forwards);
}

TEST_CASE("texts draft together what each drafts alone, whatever the bridge") {
    const short_windows world;
    for_every_bridge(world, 5, [&](const char* name, auto bridge) {
        check_same(name, world, bridge, token_rejection{});
    });
    check_same("block verification", world, world.two.tli(5, 512), block_verification{});
    check_same("exact match", world, world.two.slem(5, 512), exact_match{});
    check_same("no bridge", world, no_bridge{}, token_rejection{}, false);
    check_same("lookup", world,
               lookup_source(make_default_lookup(512, lookup_hit_bytes(4), nullptr),
                             world.two.target, {.max_draft = 4}),
               exact_match{}, false);
}

TEST_CASE("texts that share an n-gram cache draft together") {
    const short_windows world;
    // The cache learns, so texts side by side are other ones than alone: both ways of drafting are
    // compared.
    const auto tokens = [&](bool together) {
        ngram_cache<no_eviction> learnt;
        const auto bridge = make_ngram_merge_bridge(learnt, world.two.target, world.two.draft,
                                                    world.two.map, world.two.order, 512, {4, 0.1});
        texts_at_once texts(world, 3, 3, short_model(world), bridge, token_rejection{}, together);
        while (texts.side_by_side.round()) {
        }
        std::vector<std::vector<std::vector<draft_id>>> drafts;
        for (const auto& x : texts.all)
            drafts.push_back(x.reader.drafts);
        return std::pair(drafts, texts.models.passes);
    };
    const auto [together, few] = tokens(true);
    const auto [in_turns, many] = tokens(false);
    CHECK(together == in_turns);
    CHECK(few < many);
}

TEST_CASE("four texts take no more passes of their drafters than the longest draft of each round") {
    const toy_world world;
    const auto passes = [&](bool together) {
        auto bridge = world.two.tli(5, 512);
        texts_at_once texts(world, 4, 4, world.draft_model(), bridge, token_rejection{}, together);
        std::size_t sum = 0, longest_of_all = 0;
        for (bool more = true; more;) {
            const std::size_t before = texts.models.passes;
            std::vector<std::size_t> rounds;
            for (const auto& x : texts.all)
                rounds.push_back(x.reader.drafts.size());
            more = texts.side_by_side.round();
            std::size_t longest = 0;
            for (std::size_t i = 0; i < 4; ++i) {
                if (texts.all[i].reader.drafts.size() == rounds[i])
                    continue;
                const std::size_t n = texts.all[i].reader.drafts.back().size();
                longest = n > longest ? n : longest;
                sum += n;
            }
            longest_of_all += longest;
            if (together)
                CHECK(texts.models.passes - before == longest);
        }
        CHECK(texts.models.passes == texts.rows.passes());
        CHECK(texts.models.passes == (together ? longest_of_all : sum));
        return texts.models.passes;
    };
    CHECK(4 * passes(true) < 3 * passes(false)); // some texts end before others
}

TEST_CASE("a failing pass of the drafters costs no text a token, and nobody leaves") {
    const toy_world world;
    auto bridge = world.two.tli(5, 512);
    for (std::size_t failing = 0; failing < 12; ++failing) {
        texts_at_once texts(world, 3, 3, world.draft_model(), bridge, token_rejection{});
        texts.models.fails_at = failing;
        std::size_t failed = 0;
        for (bool more = true; more;) {
            const std::size_t before = texts.side_by_side.texts();
            try {
                more = texts.side_by_side.round();
            } catch (const error&) {
                ++failed;
                CHECK(texts.side_by_side.texts() == before);
            }
        }
        CHECK(failed == 1);
        for (std::size_t i = 0; i < 3; ++i) {
            drafted_text<decltype(bridge), token_rejection, draft_text_model> own(
                world, world.draft_model(), bridge, token_rejection{}, i);
            target_text_model model = world.target_model();
            (void)generate(*own.run, model);
            CHECK(texts.all[i].reader.text == own.reader.text);
            CHECK(texts.all[i].reader.drafts == own.reader.drafts);
        }
    }
}

} // namespace draft_in_lockstep_tests
