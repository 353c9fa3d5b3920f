// SPDX-License-Identifier: MIT
#include <specdec/core/model/checkpointed_model.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/context_mirror.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

#include "support/recurrent_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace checkpointed_model_tests {

using recurrent = recurrent_model<target_id>;
using checkpointed = checkpointed_model<target_id, recurrent>;
static_assert(!ModelOf<recurrent, target_id>);
static_assert(CheckpointingModelOf<recurrent, target_id>);
static_assert(ModelOf<checkpointed, target_id>);
static_assert(TellsHeld<checkpointed, target_id>);

std::vector<target_id> words(std::initializer_list<int> ids) {
    std::vector<target_id> out;
    for (const int id : ids)
        out.push_back(id_at<target_id>(static_cast<std::size_t>(id)));
    return out;
}

/// The row behind the text in a state from scratch.
std::vector<float> from_scratch(const std::vector<target_id>& text) {
    recurrent model(5);
    const auto rows = model.score(text);
    const auto last = rows[text.size() - 1].values;
    return {last.begin(), last.end()};
}

std::vector<float> row_behind(checkpointed& model, target_id next) {
    const auto values = model.score(std::span(&next, 1))[0].values;
    return {values.begin(), values.end()};
}

/// What check_model makes: a model with its recurrent one.
struct owned {
    owned() = default;
    owned(const owned&) = delete; // the view borrows
    owned& operator=(const owned&) = delete;
    recurrent model{5};
    checkpointed view{model, 2};
    [[nodiscard]] std::size_t size() const { return view.size(); }
    [[nodiscard]] std::size_t capacity() const { return view.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return view.vocabulary_size(); }
    void append(std::span<const target_id> ids) { view.append(ids); }
    [[nodiscard]] auto score(std::span<const target_id> ids) { return view.score(ids); }
    void truncate(std::size_t n) { view.truncate(n); }
};

TEST_CASE("a model that cannot be truncated keeps the contract of one that can") {
    const contract_report report = check_model<target_id>([] { return owned(); });
    INFO(report.text());
    CHECK(report.ok());
}

TEST_CASE("behind every partial commit the state is that from scratch, by one pass a round") {
    for (const std::size_t longest : {0U, 2U, 8U})
        for (std::size_t kept = 0; kept <= 4; ++kept) {
            CAPTURE(longest, kept);
            recurrent engine(5);
            checkpointed model(engine, longest);
            std::vector<target_id> text = words({1, 2, 3});
            model.append(std::span(text).first(2));
            for (int round = 0; round < 5; ++round) {
                std::vector<target_id> fed = words({0, 4, 3, 2}); // the draft
                fed.insert(fed.begin(), text.back());
                const std::size_t before = engine.passes;
                (void)model.score(fed);
                CHECK(engine.passes - before <= (longest == 8 ? 2U : 3U));
                text.insert(text.end(), fed.begin() + 1,
                            fed.begin() + 1 + static_cast<std::ptrdiff_t>(kept));
                model.truncate(text.size());
                text.push_back(id_at<target_id>(static_cast<std::size_t>(round)));
                CHECK(std::vector(model.held().begin(), model.held().end()) ==
                      std::vector(text.begin(), text.end() - 1));
            }
            CHECK(row_behind(model, text.back()) == from_scratch(text));
        }
}

TEST_CASE("few kept tokens go in front of the next pass, many in a pass of their own") {
    recurrent engine(5);
    checkpointed model(engine, 2);
    (void)model.score(words({1, 2, 3, 4}));
    model.truncate(2);
    engine.passes = engine.fed = 0;
    (void)model.score(words({0}));
    CHECK(engine.passes == 1);
    CHECK(engine.fed == 3);
    (void)model.score(words({1, 2, 3, 4}));
    model.truncate(6); // 3 of these are kept
    engine.passes = engine.fed = 0;
    (void)model.score(words({0}));
    CHECK(engine.passes == 2);
    CHECK(engine.fed == 4);
    CHECK(row_behind(model, target_id{1}) == from_scratch(words({1, 2, 0, 1, 2, 3, 0, 1})));
}

TEST_CASE("a pass that throws leaves the tokens, and the next one is as if it had not been") {
    recurrent engine(5);
    checkpointed model(engine);
    (void)model.score(words({1, 2, 3}));
    model.truncate(2);
    engine.fails_behind = 1;
    CHECK_THROWS_AS(model.score(words({4})), error);
    CHECK(model.size() == 2);
    engine.fails_behind = 1;
    CHECK_THROWS_AS(model.append(words({4})), error);
    CHECK(model.size() == 2);
    CHECK(row_behind(model, target_id{4}) == from_scratch(words({1, 2, 4})));
    CHECK_THROWS_AS(model.append(std::vector(62, target_id{0})), error);
    CHECK(model.size() == 3);
}

TEST_CASE("where the engine dropped its context by itself, all is fed again") {
    recurrent engine(5);
    checkpointed model(engine);
    (void)model.score(words({1, 2, 3}));
    engine.clear();
    CHECK(row_behind(model, target_id{4}) == from_scratch(words({1, 2, 3, 4})));
    model.truncate(1);
    CHECK(row_behind(model, target_id{0}) == from_scratch(words({1, 0})));
}

} // namespace checkpointed_model_tests
