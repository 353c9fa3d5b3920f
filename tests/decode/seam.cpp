// SPDX-License-Identifier: MIT
// What models and tokenizers hand over at the seam and may not: rows of another shape, ids of no
// vocabulary, maps of other vocabularies, a context that another session has used. All of it in
// every build, for every bridge.
#include <specdec/decode/session.hpp>

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/bridge/paper_merge.hpp>
#include <specdec/core/model/shared_model.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/decode/generate.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>

#include "support/batch_of.hpp"
#include "support/decoding.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// A model whose rows have another shape at one call of score.
template <class Id, class Model>
struct misshapen {
    Model model;
    std::size_t says = 0;    ///< vocabulary_size(), 0: the model's
    std::size_t logits = 0;  ///< of its rows, 0: the model's
    std::size_t missing = 0; ///< rows
    std::size_t at_call = 0; ///< the first call of score has number 0
    std::size_t calls = 0;
    std::vector<float> memory{};

    [[nodiscard]] std::size_t size() const { return model.size(); }
    [[nodiscard]] std::size_t capacity() const { return model.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const {
        return says == 0 ? model.vocabulary_size() : says;
    }
    void append(std::span<const Id> ids) { model.append(ids); }
    void truncate(std::size_t n) { model.truncate(n); }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        const logits_rows<Id> rows = model.score(ids);
        if (calls++ != at_call)
            return rows;
        const std::size_t length = logits == 0 ? rows.vocabulary() : logits;
        memory.assign(rows.size() * length, 0.0F);
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t v = 0; v < length; ++v)
                memory[i * length + v] = v < rows.vocabulary() ? rows[i].values[v] : 1000.0F;
        return {memory.data(), rows.size() - missing, length, length};
    }
};
using misshapen_target = misshapen<target_id, target_text_model>;
using misshapen_drafter = misshapen<draft_id, draft_text_model>;

/// The message of a session's rounds, and that the text afterwards is the text without the error.
template <class B>
std::string refusal_of(const toy_world& world, B bridge, misshapen_target target,
                       misshapen_drafter draft) {
    model_drafter drafter(draft);
    philox_coin coin(4);
    session decoder(bridge, exact_match{}, world.settings(0));
    decoder.start(world.prompt, world.prefix);
    std::string message;
    std::vector<target_id> text;
    while (text.size() < 12) {
        try {
            const auto r = decoder.round(target, drafter, fixed_length{3}, coin, 50);
            text.insert(text.end(), r.tokens.begin(), r.tokens.end());
            decoder.commit(r.tokens.size());
        } catch (const error& problem) {
            message = problem.what();
            if (target.says != 0 || draft.says != 0)
                return message; // it never ends
        }
    }
    const auto expected = target_alone(world, 0, coin, text.size());
    CHECK(text == expected);
    return message;
}

} // namespace

TEST_CASE("rows of another shape than asked for are refused and cost nothing") {
    const toy_world world;
    for_every_bridge(world, 3, [&](const char* name, auto bridge) {
        CAPTURE(name);
        const auto of_target = [&](misshapen_target target) {
            return refusal_of(world, bridge, std::move(target), {world.draft_model()});
        };
        const auto of_drafter = [&](misshapen_drafter draft) {
            return refusal_of(world, bridge, {world.target_model()}, std::move(draft));
        };
        for (const std::size_t call : {0U, 2U}) {
            CHECK(of_target({.model = world.target_model(), .logits = 12, .at_call = call}) ==
                  "session: target's rows: expected 9 logits each, one for each id of the "
                  "vocabulary, found 12");
            CHECK(of_target({.model = world.target_model(), .logits = 4, .at_call = call}) ==
                  "session: target's rows: expected 9 logits each, one for each id of the "
                  "vocabulary, found 4");
            CHECK_THAT(of_target({.model = world.target_model(), .missing = 1, .at_call = call}),
                       Catch::StartsWith("session: target's rows: expected ") &&
                           Catch::Contains(", one for each token, found "));
            CHECK(of_drafter({.model = world.draft_model(), .logits = 13, .at_call = call}) ==
                  "model drafter: drafter's rows: expected 10 logits each, one for each id of the "
                  "vocabulary, found 13");
            CHECK_THAT(of_drafter({.model = world.draft_model(), .missing = 1, .at_call = call}),
                       Catch::StartsWith("model drafter: drafter's rows: expected "));
        }
        // A head whose padding the engine takes for tokens.
        CHECK(of_target({.model = world.target_model(), .says = 12, .logits = 12}) ==
              "session: target's rows: expected 9 logits each, one for each id of the vocabulary, "
              "found 12");
        CHECK_THAT(of_drafter({.model = world.draft_model(), .says = 13, .logits = 13}),
                   Catch::Contains("drafter's row: expected ") && Catch::Contains("found 13"));
    });
}

TEST_CASE("without a bridge a text's tokenizer refuses rows that are longer than its vocabulary") {
    const toy_world world;
    misshapen_target target{.model = world.target_model(), .says = 12, .logits = 12};
    no_drafter nobody;
    philox_coin coin(1);
    session decoder(no_bridge{}, exact_match{}, world.settings(0));
    decoder.start(world.prompt);
    CHECK_THROWS_WITH(generate(decoder, target, nobody, fixed_length{}, coin, world.two.target, {},
                               silent_reader{}),
                      "text run: target's rows: expected at most 9 logits, one for each id of the "
                      "tokenizer, found 12");
    CHECK(decoder.tokens().size() == world.prompt.size());
}

TEST_CASE("a batch refuses a pass with rows missing, and everybody goes on") {
    struct short_pass : batch_of<target_id, target_text_model> {
        using batch_of::batch_of;
        std::size_t short_at = 1, calls = 0;
        [[nodiscard]] logits_rows<target_id>
        score(std::span<const sequence_tokens<target_id>> parts) {
            const auto all = batch_of::score(parts);
            return calls++ == short_at ? all.middle(0, all.size() - 1) : all;
        }
    };
    const toy_world world;
    short_pass target(1, world.target_model());
    no_drafter nobody;
    philox_coin coin(1);
    session decoder(no_bridge{}, exact_match{}, world.settings(0));
    decoder.start(world.prompt);
    recorder reader;
    const fixed_length stop{};
    text_run run(decoder, nobody, stop, coin, world.two.target, {5, {}}, reader);
    batch<short_pass, decltype(run)> texts(target);
    texts.join(run);
    CHECK(texts.round());
    CHECK_THROWS_WITH(texts.round(),
                      "batch: target's rows: expected 1, one for each token, found 0");
    while (texts.round()) {
    }
    CHECK(run.finish() == finish_reason::max_tokens);
    const auto text = decoder.tokens().subspan(world.prompt.size());
    CHECK(std::vector(text.begin(), text.end()) == target_alone(world, 0, coin, 5));
}

TEST_CASE("ids outside the vocabularies are refused: of a prompt, a prefix, fed to a model") {
    const toy_world world;
    for_every_bridge(world, 3, [&](const char* name, auto bridge) {
        CAPTURE(name);
        session decoder(bridge, exact_match{}, world.settings(0));
        for (const std::int32_t id : {9, -1})
            CHECK_THROWS_WITH(decoder.start(std::vector{target_id{1}, target_id{id}}),
                              "session: target's prompt: expected ids from 0 to 9 - 1, found " +
                                  std::to_string(id));
        CHECK_THROWS_WITH(decoder.start(world.prompt, std::vector{draft_id{10}}),
                          "session: drafter's prefix: expected ids from 0 to 10 - 1, found 10");
    });
    session decoder(no_bridge{}, exact_match{}, world.settings(0));
    decoder.start(std::vector{target_id{1}, target_id{9}}); // nobody knows the vocabulary yet
    target_text_model target = world.target_model();
    CHECK_THROWS_WITH(decoder.score(target),
                      "session: target's tokens: expected ids from 0 to 9 - 1, found 9");

    draft_text_model draft = world.draft_model();
    model_drafter drafter(draft);
    const std::vector context{draft_id{2}, draft_id{10}};
    drafter.sync(context, 0);
    CHECK_THROWS_WITH(drafter.row(),
                      "model drafter: drafter's tokens: expected ids from 0 to 10 - 1, found 10");
}

namespace {

/// A tokenizer that knows tokens which it does not count: of one letter.
template <class Id>
struct uncounted : tiny_tokenizer<Id> {
    using tiny_tokenizer<Id>::tiny_tokenizer;
    bool wrong = false;
    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        tiny_tokenizer<Id>::encode(text, where, out);
        for (Id& id : out)
            if (wrong && this->bytes(id) == "c")
                id = id_at<Id>(this->vocabulary_size() + 3);
    }
};

/// Every bridge that asks a tokenizer, over two of them.
template <class F>
void for_every_text_bridge(const uncounted<target_id>& target, const uncounted<draft_id>& draft,
                           const id_map& map, const F& f) {
    const byte_order<draft_id> order(draft);
    const safe_cuts edges(target);
    ngram_cache<lru> cache;
    const auto context = [&] { return retokenised_context(target, draft, map, 64); };
    f("tli", [&] {
        return tli_bridge<uncounted<target_id>, uncounted<draft_id>>(tli_map(map), context(), 3);
    });
    f("union", [&] {
        return union_bridge<uncounted<target_id>, uncounted<draft_id>>(union_map(map), context(),
                                                                       3);
    });
    f("slem", [&] { return slem_bridge(target, draft, map, 64, 3); });
    f("slrs", [&] { return make_slrs_bridge(target, draft, map, order, edges, 64, {3, 0.0625}); });
    f("merge", [&] {
        return make_ngram_merge_bridge(cache, target, draft, map, order, 64, {3, 0.0625});
    });
    f("paper merge", [&] {
        return lossy::paper_merge_bridge(merging(cache, target, draft, map, order), map, context(),
                                         3);
    });
    const token_pieces pieces = split_tokens(target, draft, id_map::identity(0, 0));
    f("nested", [&] {
        return nested_tli_bridge<uncounted<target_id>, uncounted<draft_id>>(pieces, context(), 3);
    });
}

} // namespace

TEST_CASE("ids that a tokenizer makes and does not count are refused") {
    toy_world world;
    const std::vector<std::string> words{"a", "b", "c", " "}, more{" ", "c", "b", "a", "ab"};
    for (const bool of_target : {false, true}) {
        uncounted<target_id> target(words);
        uncounted<draft_id> draft(more);
        const id_map map = intersect(draft, target);
        for_every_text_bridge(target, draft, map, [&](const std::string& name, const auto& make) {
            if (name == "nested")
                return;
            CAPTURE(name, of_target);
            target.wrong = draft.wrong = false;
            session decoder(make(), exact_match{}, world.settings(0, 60));
            const std::vector<target_id> prompt = encoded(target, "a c b");
            (of_target ? target.wrong : draft.wrong) = true;
            decoder.start(prompt);
            target_text_model model(target.table());
            draft_text_model small(draft.table());
            model_drafter drafter(small);
            philox_coin coin(3);
            if (!of_target) { // who drafts reads the text
                CHECK_THROWS_WITH((void)decoder.round(model, drafter, fixed_length{3}, coin, 40),
                                  "tokenizer: drafter's encoding: expected ids from 0 to 5 - 1, "
                                  "found 8");
                return;
            }
            try {
                for (int round = 0; round < 20; ++round)
                    decoder.commit(
                        decoder.round(model, drafter, fixed_length{3}, coin, 40).tokens.size());
                CHECK((name != "slem" && name != "slrs")); // the others never ask
            } catch (const error& problem) {
                CHECK(std::string(problem.what()) ==
                      "tokenizer: target's encoding: expected ids from 0 to 4 - 1, found 7");
            }
        });
    }
}

TEST_CASE("a map of swapped or other vocabularies is refused by every bridge") {
    const uncounted<target_id> target({"a", "b", "c", " "});
    const uncounted<draft_id> draft({" ", "c", "b", "a", "ab"}), equal_size({"c", " ", "a", "b"});
    const id_map swapped = intersect(target.table(), draft.table());
    for_every_text_bridge(target, draft, swapped, [](const char* name, const auto& make) {
        CAPTURE(name);
        CHECK_THROWS_WITH(make(), Catch::EndsWith("id map: expected a map from the drafter's 5 ids "
                                                  "to the target's 4, found a map from 4 to 5"));
    });
    const id_map same_size = intersect(target.table(), equal_size.table());
    for_every_text_bridge(target, equal_size, same_size, [](const char* name, const auto& make) {
        CAPTURE(name);
        CHECK_THROWS_WITH(make(),
                          Catch::EndsWith("id map: expected a map from the drafter's "
                                          "vocabulary to the target's, found a map of other "
                                          "vocabularies"));
    });
    const id_map right = intersect(equal_size, target);
    CHECK_NOTHROW(retokenised_context(target, equal_size, right, 10));
    const id_map unknown = id_map::identity(4, 4);
    CHECK_NOTHROW(retokenised_context(target, equal_size, unknown, 10));
}

TEST_CASE("tables of other vocabularies than the context's are refused") {
    const toy_world world;
    const words_context context(world.two.target, world.two.draft, world.two.map, 64);
    const id_map other = id_map::identity(10, 8);
    CHECK_THROWS_WITH(words_tli(tli_map(other), context, 3),
                      "token bridge: target's vocabulary: expected the 9 ids of the context, found "
                      "8");
    CHECK_THROWS_AS(identity_bridge(identity_map(3, 4), shared_context(4, 10), 2), error);
    const token_pieces pieces(other, std::vector<std::uint32_t>(10), {});
    CHECK_THROWS_AS(words_nested(pieces, context, 3), error);
    const canonical_spellings spellings(target_words({"a", "b"}), draft_words({"b", "a"}),
                                        id_map::identity(2, 2));
    CHECK_THROWS_AS(words_spelling(spellings, context, 64, {}), error);
    const draft_words one_piece({"a"});
    const byte_order<draft_id> order(one_piece);
    const safe_cuts edges(world.two.target);
    CHECK_THROWS_AS(
        make_slrs_bridge(world.two.target, world.two.draft, world.two.map, order, edges, 64, {}),
        error);
    ngram_cache<lru> cache;
    CHECK_THROWS_AS(make_ngram_merge_bridge(cache, world.two.target, world.two.draft, world.two.map,
                                            order, 64, {}),
                    error);
}

TEST_CASE("sessions that take turns with one shared target have each their own text") {
    const toy_world world;
    for_every_bridge(world, 3, [&](const char* name, auto bridge) {
        CAPTURE(name);
        target_text_model model = world.target_model();
        shared_model<target_id, target_text_model> target(model);
        draft_text_model draft = world.draft_model();
        shared_model<draft_id, draft_text_model> drafts(draft);
        struct turn {
            model_drafter<decltype(drafts)> drafter;
            session<decltype(bridge), exact_match> decoder;
            philox_coin coin;
            std::vector<target_id> text{};
        };
        std::vector<toy_world> worlds(3);
        std::vector<turn> turns;
        turns.reserve(3);
        for (std::size_t i = 0; i < 3; ++i) { // prompts of one length
            worlds[i].prompt =
                world.two.encode(std::vector<std::string>{"ab c a", "ab c b", "ca b b"}[i]);
            turns.push_back({model_drafter(drafts),
                             session(bridge, exact_match{}, world.settings(0)), philox_coin(7, i)});
            turns[i].decoder.start(worlds[i].prompt, world.prefix);
        }
        for (int round = 0; round < 10; ++round)
            for (turn& t : turns) {
                // One token a round: the contexts stay of one length.
                const auto r = t.decoder.round(target, t.drafter, fixed_length{3}, t.coin, 50);
                t.text.push_back(r.tokens[0]);
                t.decoder.commit(1);
            }
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(turns[i].text == target_alone(worlds[i], 0, turns[i].coin, 10));
    });
}
