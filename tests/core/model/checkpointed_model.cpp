// SPDX-License-Identifier: MIT
#include <specdec/core/model/checkpointed_model.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/context_tracker.hpp>

#include "support/ids.hpp"
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
                CHECK(copy_of(model.held()) == std::vector(text.begin(), text.end() - 1));
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

using several = recurrent_batch<target_id>;
static_assert(CheckpointingBatchModelOf<several, target_id>);
static_assert(BatchModelOf<checkpointed_model<target_id, several>, target_id> &&
              !ModelOf<checkpointed_model<target_id, several>, target_id>);

struct view_of_several {
    several model{3, 5};
    checkpointed_model<target_id, several> view{model, 2};
};

TEST_CASE("sequences that are fed different numbers of tokens again share one pass") {
    view_of_several all;
    auto& model = all.view;
    const std::vector<std::vector<target_id>> texts{words({1, 2, 3}), words({0, 4}), words({2})};
    for (std::size_t s = 0; s < 3; ++s)
        model.append(s, std::vector(texts[s]));
    std::vector<std::vector<target_id>> now = texts;
    for (std::size_t round = 0; round < 6; ++round) {
        const std::vector<std::vector<target_id>> drafts{words({0, 1, 2}), words({3, 3, 3}),
                                                         words({4, 0})};
        std::vector<sequence_tokens<target_id>> parts;
        for (std::size_t s = 3; s-- > 0;) // the last one first
            parts.push_back({s, drafts[s]});
        const std::size_t before = all.model.passes;
        const auto rows = model.score(parts);
        CHECK(all.model.passes == before + 1);
        REQUIRE(rows.size() == 8);
        std::size_t first = 0;
        for (const auto& [s, ids] : parts)
            for (std::size_t i = 0; i < ids.size(); ++i, ++first) {
                std::vector<target_id> text = now[s];
                text.insert(text.end(), ids.begin(), ids.begin() + static_cast<int>(i) + 1);
                const auto values = rows[first].values;
                CHECK(copy_of(values) == from_scratch(text));
            }
        for (std::size_t s = 0; s < 3; ++s) { // keeps none, one, two ... of them
            const std::size_t kept = (round + s) % (drafts[s].size() + 1);
            now[s].insert(now[s].end(), drafts[s].begin(),
                          drafts[s].begin() + static_cast<int>(kept));
            model.truncate(s, now[s].size());
            CHECK(copy_of(model.held(s)) == now[s]);
        }
    }
}

TEST_CASE("a pass of several that throws leaves all of its sequences") {
    view_of_several all;
    auto& model = all.view;
    const std::vector<target_id> two = words({1, 2}), one = words({3});
    (void)model.score(std::vector<sequence_tokens<target_id>>{{0, two}, {1, one}});
    model.truncate(0, 1);
    all.model.fails_at = all.model.passes;
    const std::vector<sequence_tokens<target_id>> parts{{1, two}, {0, one}};
    CHECK_THROWS_AS(model.score(parts), error);
    CHECK(model.size(0) == 1);
    CHECK(model.size(1) == 1);
    const auto rows = model.score(parts);
    const auto last = rows[2].values;
    CHECK(copy_of(last) == from_scratch(words({1, 3})));
}

TEST_CASE("a drafter that is told of rounds is never fed its text again") {
    recurrent engine(5, 512);
    checkpointed model(engine);
    std::vector<target_id> text(300, target_id{1});
    model.append(text);
    for (int round = 0; round < 20; ++round) {
        model.begin_draft_round(text.size() + 1);
        text.push_back(target_id{2});
        engine.fed = 0;
        (void)model.score(words({2}));
        for (int i = 0; i < 4; ++i)
            (void)model.score(words({3}));
        const auto kept = static_cast<std::size_t>(round % 4);
        model.truncate(text.size() + kept);
        text.insert(text.end(), kept, target_id{3});
        CHECK(engine.fed <= 5 + 8);
    }
    CHECK(row_behind(model, target_id{0}) == [&] {
        text.push_back(target_id{0});
        recurrent alone(5, 512);
        const auto last = alone.score(text)[text.size() - 1].values;
        return copy_of(last);
    }());
}

TEST_CASE("rows that cannot be copied are asked for behind passes of the tokens fed again") {
    struct plain_rows { // no strided_rows
        logits_rows<target_id> all{};
        [[nodiscard]] std::size_t size() const { return all.size(); }
        [[nodiscard]] std::size_t vocabulary() const { return all.vocabulary(); }
        [[nodiscard]] logits_row<target_id> operator[](std::size_t i) const { return all[i]; }
        [[nodiscard]] plain_rows middle(std::size_t first, std::size_t n) const {
            return {all.middle(first, n)};
        }
    };
    struct engine_type : several {
        using several::several;
        [[nodiscard]] plain_rows score(std::span<const sequence_tokens<target_id>> parts) {
            return {several::score(parts)};
        }
    };
    engine_type engine(2, 5);
    checkpointed_model<target_id, engine_type> model(engine);
    const std::vector<target_id> two = words({1, 2});
    const std::vector<sequence_tokens<target_id>> parts{{0, two}, {1, two}};
    (void)model.score(parts);
    model.truncate(0, 1);
    model.truncate(1, 1);
    const auto last = model.score(parts)[3].values;
    CHECK(copy_of(last) == from_scratch(words({1, 1, 2})));
}

} // namespace checkpointed_model_tests
