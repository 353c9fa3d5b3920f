// SPDX-License-Identifier: MIT
// Models whose memory cannot forget its last tokens, recurrent and hybrid, decoded with drafts.
#include <specdec/interop/llama_cpp_recurrent_model.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tiny_model.hpp"
#include <specdec/core/model/checkpointed_model.hpp>
#include <specdec/interop/llama_cpp.hpp>
#include <specdec/specdec.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

using namespace specdec;
using namespace specdec::tiny;

namespace recurrent_model_tests {

template <class Id>
using recurrent = llama_cpp_recurrent_model<Id>;
template <class Id>
using checkpointed = checkpointed_model<Id, recurrent<Id>>;
static_assert(CheckpointingModelOf<recurrent<target_id>, target_id>);
static_assert(ModelOf<checkpointed<target_id>, target_id>);

constexpr architecture kinds[] = {architecture::mamba, architecture::jamba};

/// With all that it borrows.
template <class Id>
struct owned {
    owned(const loaded_model& engine, llama_cpp_scoring scoring, std::size_t longest = 8)
        : context(engine.context(loaded_model::parameters())), model(context.get(), 0, scoring),
          view(model, longest) {}
    owned(const owned&) = delete; // the view borrows
    owned& operator=(const owned&) = delete;

    [[nodiscard]] std::size_t size() const { return view.size(); }
    [[nodiscard]] std::size_t capacity() const { return view.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return view.vocabulary_size(); }
    void append(std::span<const Id> ids) { view.append(ids); }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) { return view.score(ids); }
    void truncate(std::size_t n) { view.truncate(n); }

    llama_context_ptr context;
    recurrent<Id> model;
    checkpointed<Id> view;
};

std::vector<float> row_behind(owned<target_id>& m, target_id next) {
    const logits_rows<target_id> rows = m.score(std::span(&next, 1));
    return {rows[0].values.begin(), rows[0].values.end()};
}

/// What was appended shares a decode: the order of sums is another.
void expect_close(const std::vector<float>& found, const std::vector<float>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        REQUIRE(std::abs(found[i] - expected[i]) < 1e-3F);
}

struct outcome {
    std::vector<target_id> tokens;
    statistics counts;
};

/// Drafts by the same model, at temperature 1: often other tokens than the target's.
template <class Bridge, class MakeDrafter>
outcome decode(owned<target_id>& target, Bridge bridge, float temperature, MakeDrafter&& drafter,
               std::size_t length) {
    session s(
        std::move(bridge), exact_match{},
        {.target = {.temperature = temperature}, .draft = {.temperature = 1}, .capacity = 256});
    s.start(text(4));
    philox_coin coin(11);
    while (s.tokens().size() < 60) {
        const std::size_t room = 60 - s.tokens().size();
        s.commit(s.round(target, drafter, fixed_length{length}, coin, room).tokens.size());
    }
    return {{s.tokens().begin(), s.tokens().end()}, s.counts()};
}

} // namespace recurrent_model_tests

using namespace recurrent_model_tests;

TEST_CASE("recurrent and hybrid models keep the engine contract behind checkpoints") {
    for (const architecture kind : kinds) {
        const model_file file(kind, sentencepiece(), 5);
        const loaded_model engine(file);
        for (const auto scoring : {llama_cpp_scoring::together, llama_cpp_scoring::alone}) {
            CAPTURE(static_cast<int>(kind), static_cast<int>(scoring));
            const contract_report report = check_model<target_id>(
                [&] { return owned<target_id>(engine, scoring); }, {.tolerance = 1e-3});
            CHECK(report.text() == "");
            CHECK(report.unchecked.empty());
        }
    }
}

TEST_CASE("behind every partial commit llama.cpp's state is that from scratch") {
    for (const architecture kind : kinds)
        for (const std::size_t longest : {0U, 2U, 8U})
            for (std::size_t kept = 0; kept <= 4; ++kept) {
                CAPTURE(static_cast<int>(kind), longest, kept);
                const model_file file(kind);
                const loaded_model engine(file);
                owned<target_id> m(engine, llama_cpp_scoring::alone, longest);
                std::vector<target_id> all = text(3);
                m.append(std::span(all).first(2));
                for (std::size_t round = 0; round < 4; ++round) {
                    std::vector<target_id> fed = text(4, 50 * round);
                    fed.insert(fed.begin(), all.back());
                    (void)m.score(fed);
                    all.insert(all.end(), fed.begin() + 1,
                               fed.begin() + 1 + static_cast<std::ptrdiff_t>(kept));
                    m.truncate(all.size());
                    all.push_back(id_at<target_id>(30 + round));
                }
                owned<target_id> scratch(engine, llama_cpp_scoring::alone);
                for (std::size_t i = 0; i + 1 < all.size(); ++i)
                    (void)scratch.score(std::span(&all[i], 1));
                expect_close(row_behind(m, all.back()), row_behind(scratch, all.back()));
            }
}

TEST_CASE("a recurrent model's text with drafts is its text without") {
    std::uint64_t accepted = 0, proposed = 0;
    for (const architecture kind : kinds)
        for (const float temperature : {0.0F, 1.0F}) {
            CAPTURE(static_cast<int>(kind), temperature);
            const model_file file(kind, sentencepiece(), 3);
            const loaded_model engine(file);
            owned<target_id> plain(engine, llama_cpp_scoring::alone);
            const outcome alone = decode(plain, no_bridge{}, temperature, no_drafter{}, 0);
            CHECK(alone.tokens.size() == 60);
            for (const std::size_t length : {1U, 4U, 9U}) {
                owned<target_id> target(engine, llama_cpp_scoring::alone);
                owned<draft_id> draft(engine, llama_cpp_scoring::alone);
                model_drafter drafter(draft);
                const std::size_t size = target.vocabulary_size();
                const outcome drafted =
                    decode(target, make_identity_bridge(size, size, 256, length), temperature,
                           drafter, length);
                CHECK(drafted.tokens == alone.tokens);
                accepted += drafted.counts.accepted;
                proposed += drafted.counts.proposed;
            }
        }
    CHECK(accepted > 20);
    CHECK(accepted < proposed);
}

TEST_CASE("a decode that fails leaves an empty state, which is fed again") {
    const model_file file(architecture::mamba);
    const loaded_model engine(file);
    owned<target_id> m(engine, llama_cpp_scoring::together),
        other(engine, llama_cpp_scoring::together);
    m.append(text(5));
    other.append(text(5));
    int countdown = 1;
    llama_set_abort_callback(
        m.context.get(), [](void* n) { return --*static_cast<int*>(n) == 0; }, &countdown);
    CHECK_THROWS_AS(m.score(text(3, 9)), error);
    CHECK(m.model.size() == 0);
    CHECK(m.size() == 5);
    expect_close(row_behind(m, target_id{40}), row_behind(other, target_id{40}));
}

TEST_CASE("a recurrent model needs a sequence of its context, and room") {
    const model_file file(architecture::mamba);
    const loaded_model engine(file);
    const llama_context_ptr context = engine.context();
    CHECK_THROWS_WITH(recurrent<target_id>(context.get(), 1), Catch::Contains("n_seq_max = 1"));
    recurrent<target_id> m(context.get());
    m.append(text(3));
    CHECK_THROWS_WITH(m.append(text(254)), Catch::Contains("expected room for 254 tokens"));
    CHECK(m.size() == 3); // known before anything is fed
}
