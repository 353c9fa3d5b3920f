// SPDX-License-Identifier: MIT
// The loop over llama.cpp, and llama.cpp beside our own engine on the same files.
#include <specdec/interop/llama_cpp.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "tiny_model.hpp"
#include <specdec/specdec.hpp>
#include <specdec/vocab/table/intersection.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;
using namespace specdec::tiny;

namespace {

using target_model = llama_cpp_model<target_id>;
using draft_model = llama_cpp_model<draft_id>;

/// A byte-level target and a SentencePiece drafter.
struct pair_of_models {
    model_file target_file{architecture::llama, byte_level(), 3};
    model_file draft_file{architecture::llama, sentencepiece(), 4};
    loaded_model target_engine{target_file}, draft_engine{draft_file};
    llama_context_ptr target_context = target_engine.context();
    llama_context_ptr draft_context = draft_engine.context();
    llama_cpp_tokenizer<target_id> words{target_engine.vocab()};
    llama_cpp_tokenizer<draft_id> pieces{draft_engine.vocab()};
    id_map shared = intersect(pieces.table(), words.table());

    /// The greedy text behind a prompt. Random weights forbid nothing, so the end tokens do not
    /// count here.
    template <class B, class V, class D>
    std::vector<target_id> text(B bridge, V rule, D&& drafter, const std::string& prompt,
                                llama_cpp_scoring scoring, statistics* counts = nullptr) {
        target_model target(target_context.get(), 0, scoring);
        session s(std::move(bridge), rule,
                  {.target = {.temperature = 0}, .draft = {.temperature = 0}, .capacity = 256});
        std::vector<target_id> ids;
        words.encode(prompt, encode_mode::start, ids);
        s.start(ids);
        philox_coin coin(1);
        generate(s, target, drafter, fixed_length{4}, coin, words, {.max_tokens = 40},
                 silent_reader{});
        if (counts != nullptr)
            *counts = s.counts();
        return {s.tokens().begin(), s.tokens().end()};
    }
};

} // namespace

TEST_CASE("greedy text scored alone is the target's with every drafter and none") {
    pair_of_models p;
    std::uint64_t accepted = 0;
    for (const std::string prompt : {"the cat", "on", "a b c", "\n\n", "theathecat"}) {
        CAPTURE(prompt);
        const auto expected =
            p.text(no_bridge{}, exact_match{}, no_drafter{}, prompt, llama_cpp_scoring::alone);
        CHECK(expected.size() > 40);
        draft_model draft(p.draft_context.get());
        model_drafter drafter(draft);
        statistics counts;
        CHECK(p.text(slem_bridge(p.words, p.pieces, p.shared, 256, 4), exact_match{}, drafter,
                     prompt, llama_cpp_scoring::alone, &counts) == expected);
        CHECK(counts.proposed > 20);
        // A drafter that knows the text: the target under the drafter's name.
        const llama_context_ptr again = p.target_engine.context();
        draft_model same(again.get());
        model_drafter knows(same);
        const std::size_t size = p.words.vocabulary_size();
        CHECK(p.text(make_identity_bridge(size, size, 256, 4), token_rejection{}, knows, prompt,
                     llama_cpp_scoring::alone, &counts) == expected);
        accepted += counts.accepted;
        // Together the same here: these models' choices are clear.
        CHECK(p.text(make_identity_bridge(size, size, 256, 4), token_rejection{}, knows, prompt,
                     llama_cpp_scoring::together) == expected);
    }
    CHECK(accepted > 100);
}

TEST_CASE("a failed round leaves the session where it stood") {
    pair_of_models p;
    const auto expected =
        p.text(no_bridge{}, exact_match{}, no_drafter{}, "the", llama_cpp_scoring::alone);
    target_model target(p.target_context.get(), 0, llama_cpp_scoring::alone);
    draft_model draft(p.draft_context.get());
    model_drafter drafter(draft);
    session s(slem_bridge(p.words, p.pieces, p.shared, 256, 4), exact_match{},
              {.target = {.temperature = 0}, .draft = {.temperature = 0}, .capacity = 256});
    std::vector<target_id> prompt;
    p.words.encode("the", encode_mode::start, prompt);
    s.start(prompt);
    philox_coin coin(1);
    int failed = 0;
    int countdown = 0;
    const auto abort = [](void* n) { return --*static_cast<int*>(n) == 0; };
    llama_set_abort_callback(p.target_context.get(), abort, &countdown);
    while (s.tokens().size() < expected.size()) {
        countdown = ++failed % 3 == 0 ? 40 : 0;
        try {
            const auto room = expected.size() - s.tokens().size();
            s.commit(s.round(target, drafter, fixed_length{4}, coin, room).tokens.size());
        } catch (const error&) {
            failed += 100;
        }
    }
    CHECK(failed > 300);
    CHECK(std::vector<target_id>(s.tokens().begin(), s.tokens().end()) == expected);
}

TEST_CASE("our engine and llama.cpp read the same file the same way") {
    const std::string text = "the cat at a caf\xC3\xA9: </s>\n  the<tool>her\xF0\x9F\x98\x80 12";
    for (const auto& parts : {sentencepiece(), byte_level()}) {
        CAPTURE(parts.model);
        const model_file file(architecture::llama, parts, 7);
        const auto path = file.path();
        const loaded_model engine(file);
        const llama_cpp_tokenizer<target_id> theirs(engine.vocab());
        const engine::tokenizer_of<target_id> ours(engine::load_tokenizer(path));
        CHECK(theirs.table().fingerprint() == ours.base().table().fingerprint());
        std::vector<target_id> a, b;
        for (const auto where : {encode_mode::start, encode_mode::continuation}) {
            a.clear();
            b.clear();
            theirs.encode(text, where, a);
            ours.encode(text, where, b);
            CHECK(a == b);
        }

        engine::load_options options;
        options.number_format = engine::precision::f32;
        options.context = {.threads = 1};
        engine::model<target_id> our_model(engine::load_transformer(path, options));
        const llama_context_ptr context = engine.context();
        target_model their_model(context.get());
        const auto our_rows = our_model.score(a);
        const auto their_rows = their_model.score(a);
        double most = 0, largest = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t k = 0; k < our_rows.vocabulary(); ++k) {
                const auto x = static_cast<double>(our_rows[i].values[k]);
                most = std::max(most, std::abs(x - static_cast<double>(their_rows[i].values[k])));
                largest = std::max(largest, std::abs(x));
            }
        CHECK(largest > 3);
        CHECK(most < 1e-3);
    }
}
