// SPDX-License-Identifier: MIT
#include <specdec/interop/llama_cpp_batch_model.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "tiny_model.hpp"
#include <specdec/interop/llama_cpp.hpp>
#include <specdec/specdec.hpp>
#include <specdec/testing/contract/engine_contract.hpp>
#include <specdec/vocab/table/intersection.hpp>

using namespace specdec;
using namespace specdec::tiny;
using Catch::Contains;

static_assert(BatchModelOf<llama_cpp_batch_model<target_id>, target_id>);
static_assert(!BatchModelOf<llama_cpp_batch_model<draft_id>, target_id>);

namespace {

using several = llama_cpp_batch_model<target_id>;
constexpr double tolerance = 1e-3; // of logits between -20 and 20

llama_context_ptr context_of(const loaded_model& engine, std::uint32_t sequences) {
    llama_context_params p = loaded_model::parameters(256 * sequences);
    p.n_seq_max = sequences;
    return engine.context(p);
}

} // namespace

TEST_CASE("one decode for all parts: every sequence's rows, in the order of the parts") {
    const model_file file;
    const loaded_model engine(file);
    const llama_context_ptr context = context_of(engine, 3), other = context_of(engine, 3);
    several m(context.get());
    REQUIRE(m.sequences() == 3);
    CHECK(m.capacity() == 256);
    for (std::size_t s = 0; s < 3; ++s)
        m.append(s, text(5 + s, 10 * s));
    const auto a = text(2, 50), b = text(1, 60), c = text(3, 70);
    const std::vector<sequence_tokens<target_id>> parts{{2, a}, {0, b}, {1, c}};
    const logits_rows<target_id> rows = m.score(parts);
    REQUIRE(rows.size() == 6);
    CHECK(m.size(2) == 9);
    CHECK(m.size(0) == 6);
    CHECK(m.size(1) == 9);
    std::size_t first = 0;
    for (const auto& [s, ids] : parts) {
        llama_cpp_model<target_id> alone(other.get(), static_cast<llama_seq_id>(s));
        alone.append(text(5 + s, 10 * s));
        const logits_rows<target_id> expected = alone.score(ids);
        for (std::size_t i = 0; i < ids.size(); ++i)
            for (std::size_t t = 0; t < m.vocabulary_size(); ++t)
                REQUIRE(std::abs(rows[first + i].values[t] - expected[i].values[t]) < tolerance);
        first += ids.size();
    }
    m.truncate(1, 4);
    CHECK(m.size(1) == 4);
    CHECK(m.size(2) == 9);
    CHECK(m.score({}).size() == 0);
}

TEST_CASE("a pass that fails leaves every sequence as it was") {
    const model_file file;
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters(512);
    p.n_seq_max = 2;
    p.n_batch = 16;
    const llama_context_ptr context = engine.context(p);
    several m(context.get());
    m.append(0, text(20, 0));
    m.append(1, text(3, 0));
    const auto short_part = text(2, 5), long_part = text(15, 5), too_long = text(250, 5);
    std::vector<target_id> wrong = short_part;
    wrong[1] = target_id{99999};
    const auto refused = [&](const std::vector<target_id>& a, const std::vector<target_id>& b,
                             const char* message) {
        const std::vector<sequence_tokens<target_id>> parts{{0, a}, {1, b}};
        CHECK_THROWS_WITH(m.score(parts), Contains(message));
        CHECK(m.size(0) == 20);
        CHECK(m.size(1) == 3);
    };
    refused(short_part, long_part, "n_batch: expected at least the 17 tokens of a pass, found 16");
    refused(too_long, short_part, "sequence 0: expected room for 250 tokens, 20 of 256 are held");
    refused(short_part, wrong, "llama_decode: returned: -1");
    struct stop_at_once {
        static bool ask(void*) { return true; }
    };
    llama_set_abort_callback(context.get(), stop_at_once::ask, nullptr);
    refused(short_part, short_part, "llama_decode: returned: 2");
    llama_set_abort_callback(context.get(), nullptr, nullptr);
    const std::vector<sequence_tokens<target_id>> parts{{0, short_part}, {1, short_part}};
    CHECK(m.score(parts).size() == 4);
    const auto pieces = text(40, 5); // of one sequence: fed as n_batch allows
    const std::vector<sequence_tokens<target_id>> one{{1, pieces}};
    CHECK(m.score(one).size() == 40);
}

TEST_CASE("of a memory that all share, each sequence can count on its part") {
    const model_file file;
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters(512);
    p.n_seq_max = 2;
    p.kv_unified = true;
    const llama_context_ptr context = engine.context(p);
    CHECK(several(context.get()).capacity() == 256);
}

TEST_CASE("sequences of a context keep the engine contract; scored alone, bit for bit") {
    const model_file file;
    const loaded_model engine(file);
    struct owned : several {
        llama_context_ptr context;
        owned(llama_context_ptr c, llama_cpp_scoring scoring)
            : several(c.get(), scoring), context(std::move(c)) {}
    };
    for (const auto scoring : {llama_cpp_scoring::together, llama_cpp_scoring::alone}) {
        const contract_report report = check_batch_model<target_id>(
            [&] { return owned(context_of(engine, 3), scoring); }, {.tolerance = 1e-3});
        CAPTURE(static_cast<int>(scoring));
        CHECK(report.text() == "");
        CHECK(report.unchecked.empty());
    }
}

TEST_CASE("positions scored alone: a text's rows do not depend on the other texts") {
    const model_file file;
    const loaded_model engine(file);
    const llama_context_ptr context = context_of(engine, 3), other = context_of(engine, 3);
    several together(context.get(), llama_cpp_scoring::alone);
    llama_cpp_model<target_id> single(other.get(), 0, llama_cpp_scoring::alone);
    const auto a = text(3, 50), b = text(2, 60);
    const std::vector<sequence_tokens<target_id>> parts{{2, b}, {1, a}};
    const logits_rows<target_id> rows = together.score(parts);
    const logits_rows<target_id> expected = single.score(a);
    REQUIRE(rows.size() == 5);
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(std::equal(expected[i].values.begin(), expected[i].values.end(),
                         rows[2 + i].values.begin()));
}

TEST_CASE("texts side by side in one context, each with a drafter") {
    const model_file target_file{architecture::llama, byte_level(), 3};
    const model_file draft_file{architecture::llama, sentencepiece(), 4};
    const loaded_model target_engine(target_file), draft_engine(draft_file);
    const llama_context_ptr context = context_of(target_engine, 2);
    const llama_context_ptr drafts = context_of(draft_engine, 2);
    const llama_cpp_tokenizer<target_id> words(target_engine.vocab());
    const llama_cpp_tokenizer<draft_id> pieces(draft_engine.vocab());
    const id_map shared = intersect(pieces.table(), words.table());
    using model = llama_cpp_model<draft_id>;
    const fixed_length stop{3};
    struct one_text {
        model draft;
        model_drafter<model> drafter{draft};
        session<decltype(slem_bridge(words, pieces, shared, 100, 3)), exact_match> decoder;
        philox_coin coin{1};
        silent_reader reader{};
        text_run<decltype(decoder), decltype(drafter), fixed_length, philox_coin,
                 llama_cpp_tokenizer<target_id>, silent_reader>
            run;
        one_text(llama_context* c, llama_seq_id sequence, const llama_cpp_tokenizer<target_id>& w,
                 const llama_cpp_tokenizer<draft_id>& p, const id_map& map,
                 const fixed_length& stop, const std::string& prompt)
            : draft(c, sequence),
              decoder(slem_bridge(w, p, map, 100, 3), exact_match{},
                      {.target = {.temperature = 0}, .draft = {.temperature = 0}, .capacity = 100}),
              run(decoder, drafter, stop, coin, w, {.max_tokens = 20}, reader) {
            std::vector<target_id> ids;
            w.encode(prompt, encode_mode::start, ids);
            decoder.start(ids);
        }
    };
    one_text first(drafts.get(), 0, words, pieces, shared, stop, "the cat");
    one_text second(drafts.get(), 1, words, pieces, shared, stop, "a b c");
    several target(context.get());
    batch<several, decltype(first.run)> side_by_side(target);
    side_by_side.join(first.run);
    side_by_side.join(second.run);
    while (side_by_side.round()) {
    }
    CHECK(first.decoder.counts().committed == 20);
    CHECK(second.decoder.counts().committed == 20);
    CHECK(side_by_side.counts().passes < 40);

    // The same text again begins where a sequence that is free does, which the target tells.
    llama_cpp_model<draft_id>(drafts.get(), 1).truncate(0);
    one_text again(drafts.get(), 1, words, pieces, shared, stop, "a b c");
    const auto prompt = again.decoder.tokens();
    side_by_side.join(again.run);
    CHECK(common_prefix<target_id>(target.held(1), prompt) == prompt.size());
    CHECK(target.held(1).size() == target.size(1));
}
