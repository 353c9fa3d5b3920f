// SPDX-License-Identifier: MIT
#include <specdec/interop/llama_cpp_model.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "tiny_model.hpp"
#include <specdec/core/token_id.hpp>

using namespace specdec;
using namespace specdec::tiny;
using Catch::Contains;

namespace {

using model = llama_cpp_model<target_id>;
using row = std::vector<float>;
constexpr double tolerance = 1e-3; // of logits between -20 and 20
constexpr auto alone = llama_cpp_scoring::alone;

std::vector<row> rows_of(const logits_rows<target_id>& rows) {
    std::vector<row> all;
    for (std::size_t i = 0; i < rows.size(); ++i)
        all.emplace_back(rows[i].values.begin(), rows[i].values.end());
    return all;
}

double distance(const row& a, const row& b) {
    REQUIRE(a.size() == b.size());
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    return most;
}

/// Rows behind each token, from a context of their own, token by token.
std::vector<row> expected_rows(const loaded_model& engine, const std::vector<target_id>& ids,
                               std::uint32_t n_ctx = 256) {
    llama_context_params p = loaded_model::parameters(n_ctx);
    p.swa_full = true;
    const llama_context_ptr context = engine.context(p);
    model m(context.get(), 0, alone);
    return rows_of(m.score(ids));
}

/// Ends the decode when it has been asked so often.
struct abort_after {
    int calls;
    static bool ask(void* self) { return --static_cast<abort_after*>(self)->calls < 0; }
};

} // namespace

TEST_CASE("row i is the law behind token i, in llama.cpp's own buffer") {
    const model_file file;
    const loaded_model engine(file);
    const llama_context_ptr context = engine.context();
    model m(context.get());
    const auto ids = text(12);
    const auto expected = expected_rows(engine, ids);

    CHECK(m.size() == 0);
    CHECK(m.capacity() == 256);
    CHECK(m.vocabulary_size() == sentencepiece().tokens.size());
    m.append(std::span(ids).first(7));
    CHECK(m.size() == 7);
    const logits_rows<target_id> rows = m.score(std::span(ids).subspan(7));
    CHECK(m.size() == 12);
    REQUIRE(rows.size() == 5);
    CHECK(rows[0].values.data() == llama_get_logits(context.get()));
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(distance(rows_of(rows)[i], expected[7 + i]) < tolerance);
    CHECK(distance(expected[7], expected[8]) > 1e-2); // it would be seen
}

TEST_CASE("what was truncated leaves no trace; scored alone, not a bit of one") {
    const model_file file;
    const loaded_model engine(file);
    const llama_context_ptr context = engine.context();
    const auto ids = text(20), wrong = text(9, 100);
    const auto expected = expected_rows(engine, ids);
    for (const auto scoring : {llama_cpp_scoring::together, alone}) {
        model m(context.get(), 0, scoring);
        m.truncate(0);
        (void)m.score(std::span(ids).first(5));
        (void)m.score(wrong);
        m.truncate(5);
        CHECK(m.size() == 5);
        m.truncate(5);
        const auto rows = rows_of(m.score(std::span(ids).subspan(5)));
        for (std::size_t i = 0; i < rows.size(); ++i)
            CHECK(distance(rows[i], expected[5 + i]) <= (scoring == alone ? 0 : tolerance));
    }
}

TEST_CASE("a full context refuses more and stays usable") {
    const model_file file;
    const loaded_model engine(file);
    const llama_context_ptr context = engine.context();
    model m(context.get());
    m.append(text(250));
    CHECK_THROWS_WITH(m.append(text(7)), "llama_context: n_ctx: expected room for 7 tokens, 250 of "
                                         "256 are held");
    CHECK_THROWS_WITH((void)m.score(text(300)), Contains("room for 300"));
    CHECK(m.size() == 250);
    CHECK(m.score(text(6, 250)).size() == 6);
    CHECK(m.size() == m.capacity());
}

TEST_CASE("more tokens than a batch holds are fed in pieces") {
    const model_file file;
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters();
    p.n_batch = p.n_ubatch = 8;
    const llama_context_ptr context = engine.context(p);
    REQUIRE(llama_n_batch(context.get()) == 8);
    model m(context.get());
    const auto ids = text(60);
    const auto expected = expected_rows(engine, ids);
    m.append(std::span(ids).first(30));
    const auto rows = rows_of(m.score(std::span(ids).subspan(30)));
    REQUIRE(rows.size() == 30);
    for (std::size_t i = 0; i < 30; ++i)
        CHECK(distance(rows[i], expected[30 + i]) < tolerance);
}

TEST_CASE("a cancelled decode is an error, takes back what it fed and can be repeated") {
    const model_file file;
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters();
    p.n_batch = 32;
    p.n_ubatch = 8; // so that a decode ends with some of its pieces in the memory
    const llama_context_ptr context = engine.context(p);
    const auto ids = text(100);
    const auto expected = expected_rows(engine, ids);
    model m(context.get());
    m.append(std::span(ids).first(10));

    int cancelled = 0;
    for (int calls = 0; calls < 1000; calls = calls * 2 + 1) {
        abort_after abort{calls};
        llama_set_abort_callback(context.get(), abort_after::ask, &abort);
        try {
            (void)m.score(std::span(ids).subspan(10));
            m.truncate(10);
        } catch (const error& problem) {
            CHECK(problem.what() ==
                  std::string(
                      "llama_decode: returned: expected 0, found 2: the abort callback ended it"));
            ++cancelled;
        }
        CHECK(m.size() == 10);
    }
    CHECK(cancelled > 3);
    llama_set_abort_callback(context.get(), nullptr, nullptr);
    const auto rows = rows_of(m.score(std::span(ids).subspan(10)));
    for (std::size_t i = 0; i < rows.size(); ++i)
        CHECK(distance(rows[i], expected[10 + i]) < tolerance);
}

TEST_CASE("what llama.cpp throws takes back what was fed, too") {
    const model_file file;
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters();
    p.n_batch = p.n_ubatch = 8;
    int calls = 0;
    p.cb_eval_user_data = &calls;
    p.cb_eval = [](ggml_tensor*, bool, void* n) -> bool {
        if (++*static_cast<int*>(n) == 200)
            throw std::runtime_error("in the middle");
        return true;
    };
    const llama_context_ptr context = engine.context(p);
    model m(context.get());
    m.append(text(3));
    REQUIRE(calls > 0);
    calls = 0;
    CHECK_THROWS_WITH(m.append(text(100)), "in the middle");
    CHECK(calls == 200);
    CHECK(m.size() == 3);
}

TEST_CASE("an invalid token is refused by llama.cpp and named by us") {
    const model_file file;
    const loaded_model engine(file);
    const llama_context_ptr context = engine.context();
    model m(context.get());
    m.append(text(3));
    CHECK_THROWS_WITH(m.append(std::vector{target_id{100000}}),
                      Contains("llama_decode: returned: -1"));
    CHECK(m.size() == 3);
    CHECK(m.score(text(1)).size() == 1);
}

TEST_CASE("sequences of one context do not see each other") {
    const model_file file;
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters(512);
    p.n_seq_max = 2;
    for (const bool unified : {false, true}) {
        p.kv_unified = unified;
        const llama_context_ptr context = engine.context(p);
        const auto ids = text(20), others = text(20, 50);
        const auto expected = expected_rows(engine, ids),
                   expected_others = expected_rows(engine, others);
        model first(context.get(), 0), second(context.get(), 1);
        CHECK(first.capacity() == (unified ? 512 : 256));
        first.append(std::span(ids).first(10));
        second.append(std::span(others).first(15));
        CHECK(first.size() == 10);
        CHECK(second.size() == 15);
        CHECK(distance(rows_of(first.score(std::span(ids).subspan(10, 1)))[0], expected[10]) <
              tolerance);
        second.truncate(12);
        CHECK(distance(rows_of(second.score(std::span(others).subspan(12, 1)))[0],
                       expected_others[12]) < tolerance);
        first.truncate(0);
        CHECK(second.size() == 13);
        CHECK_THROWS_WITH(model(context.get(), 2),
                          "llama_context: sequence 2: expected a sequence below "
                          "n_seq_max = 2");
        CHECK_THROWS_WITH(model(context.get(), -1), Contains("sequence -1"));
    }
}

TEST_CASE("where other sequences fill a shared memory, llama.cpp's code 1 is told") {
    const model_file file;
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters();
    p.n_seq_max = 2;
    p.kv_unified = true;
    const llama_context_ptr context = engine.context(p);
    model first(context.get(), 0), second(context.get(), 1);
    first.append(text(200));
    second.append(text(50));
    CHECK_THROWS_WITH(second.append(text(20)), Contains("llama_decode: returned: 1: no free"));
    CHECK(first.size() == 200);
    CHECK(second.size() == 50);
    first.truncate(100);
    second.append(text(20));
    CHECK(second.size() == 70);
}

TEST_CASE("what the engine itself does to the memory is seen") {
    const model_file file;
    const loaded_model engine(file);
    const llama_context_ptr context = engine.context();
    model m(context.get());
    m.append(text(5));
    CHECK(model(context.get()).size() == 5);
    llama_memory_clear(llama_get_memory(context.get()), true);
    CHECK(m.size() == 0);
}

TEST_CASE("a sliding window that has moved on is not gone back behind") {
    const model_file file(architecture::gemma3);
    const loaded_model engine(file);
    llama_context_params p = loaded_model::parameters(1024);
    p.n_ubatch = 16;
    const auto ids = text(700);
    const auto expected = expected_rows(engine, ids, 1024);
    for (const bool full : {false, true}) {
        p.swa_full = full;
        const llama_context_ptr context = engine.context(p);
        model m(context.get());
        m.append(ids);
        m.truncate(690); // a few tokens back: always
        CHECK(distance(rows_of(m.score(std::span(ids).subspan(690, 1)))[0], expected[690]) <
              tolerance);
        if (full) {
            m.truncate(100);
            CHECK(distance(rows_of(m.score(std::span(ids).subspan(100, 1)))[0], expected[100]) <
                  tolerance);
        } else {
            CHECK_THROWS_WITH(m.truncate(100), Contains("llama_memory_seq_rm: position 100") &&
                                                   Contains("swa_full"));
            CHECK(m.size() == 691);
            CHECK(distance(rows_of(m.score(std::span(ids).subspan(691, 1)))[0], expected[691]) <
                  tolerance);
        }
        m.truncate(0);
        CHECK(distance(rows_of(m.score(std::span(ids).first(1)))[0], expected[0]) < tolerance);
    }
}

TEST_CASE("a memory that cannot go back is refused") {
    const model_file file(architecture::mamba);
    const loaded_model engine(file);
    const llama_context_ptr context = engine.context();
    CHECK_THROWS_WITH(model(context.get()),
                      Contains("llama_memory_seq_rm: memory: expected a memory "
                               "that can forget its last tokens"));
}
