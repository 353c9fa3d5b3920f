// SPDX-License-Identifier: MIT
#include <specdec/draft/windowed_drafter.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/model_drafter.hpp>

#include "support/archetypes.hpp"
#include "support/failing_model.hpp"
#include "support/ids.hpp"
#include "support/script_drafter.hpp"
#include "support/toy_model.hpp"
#include "support/toy_rows.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace windowed_drafter_tests {

using ids = std::vector<draft_id>;
using toy = toy_model<draft_id>;
using model_windows = windowed_drafter<model_drafter<toy>>;
constexpr std::size_t vocabulary = 3;

static_assert(RoundAware<model_windows>);
static_assert(ManyRowsDrafter<model_windows>);
static_assert(Drafter<windowed_drafter<drafter_archetype>>);
static_assert(!ManyRowsDrafter<windowed_drafter<drafter_archetype>>);

std::vector<float> row_of(const ids& context) {
    return toy_rows(row_kind::random, vocabulary, 3)(values_of(context));
}

toy model(std::size_t capacity) {
    return toy(vocabulary, row_of, 3, capacity);
}

ids numbers(int n) {
    ids result;
    for (int i = 0; i < n; ++i)
        result.push_back(draft_id{i % 3});
    return result;
}

ids without(ids context, std::size_t keep, std::size_t dropped) {
    const auto from = context.begin() + static_cast<std::ptrdiff_t>(keep);
    context.erase(from, from + static_cast<std::ptrdiff_t>(dropped));
    return context;
}

/// What is dropped, by its definition.
std::size_t least(std::size_t tokens, std::size_t capacity, std::size_t block) {
    std::size_t dropped = 0;
    while (tokens - dropped > capacity)
        dropped += block;
    return dropped;
}

std::string refused(std::size_t capacity, window_settings settings) {
    script_drafter inner(3, {draft_id{0}}, capacity);
    try {
        windowed_drafter drafter(inner, settings);
    } catch (const error& e) {
        return e.what();
    }
    return "";
}

TEST_CASE("windowed drafter: of a longer one blocks are dropped behind what is kept") {
    script_drafter inner(3, {draft_id{0}}, 10);
    windowed_drafter drafter(inner, {.keep = 2, .block = 4, .room = 0});
    for (std::size_t n = 1; n <= 60; ++n) {
        const ids context = numbers(static_cast<int>(n));
        const std::size_t before = drafter.dropped();
        drafter.sync(context, n - 1);
        CHECK(drafter.dropped() == least(n, 10, 4));
        CHECK(inner.context == without(context, 2, drafter.dropped()));
        CHECK(inner.context.size() <= 10);
        CHECK(inner.unchanged == (drafter.dropped() == before ? inner.context.size() - 1 : 2));
    }
}

TEST_CASE("windowed drafter: what the settings leave open") {
    const auto dropped_at = [](std::size_t capacity, std::size_t tokens, window_settings s) {
        script_drafter inner(3, {draft_id{0}}, capacity);
        windowed_drafter drafter(inner, s);
        drafter.begin_draft_round(tokens);
        drafter.sync(numbers(static_cast<int>(tokens)), 0);
        return drafter.dropped();
    };
    CHECK(dropped_at(101, 69, {}) == 0); // room for a draft of 32
    CHECK(dropped_at(101, 70, {}) == 50);
    CHECK(dropped_at(101, 70, {.room = 31}) == 0);
    CHECK(dropped_at(101, 100, {.room = 1}) == 0);
    CHECK(dropped_at(101, 101, {.room = 1}) == 50);
    CHECK(dropped_at(101, 102, {.keep = 51, .room = 0}) == 25);
    CHECK(dropped_at(2, 2, {}) == 0); // no room is left for room
    CHECK(dropped_at(2, 3, {}) == 1);
    CHECK(dropped_at(3, 2, {}) == 0); // for one token of it
    CHECK(dropped_at(3, 3, {}) == 1);
}

TEST_CASE("windowed drafter: settings that the drafter's context has no room for") {
    CHECK(refused(10, {.keep = 4, .block = 6}).empty());
    CHECK(refused(10, {.keep = 4, .block = 7}) ==
          "windowed drafter: settings: expected room for keep (4) and a block (7) in the drafter's "
          "context of 10 tokens");
    CHECK(refused(10, {.keep = 9}).empty());
    CHECK(
        refused(10, {.keep = 10}) ==
        "windowed drafter: settings: expected room for keep (10) and a block (1) in the drafter's "
        "context of 10 tokens");
    CHECK(!refused(10, {.keep = ~std::size_t{0}}).empty());
    CHECK(!refused(10, {.block = ~std::size_t{0}}).empty());
    CHECK(!refused(0, {}).empty());
    CHECK(!refused(1, {}).empty());
    CHECK(refused(1, {.keep = 0}).empty());
    CHECK(refused(5, {.room = ~std::size_t{0}}).empty());
}

TEST_CASE("windowed drafter: a row is the same however its context was reached") {
    struct {
        std::size_t capacity;
        window_settings settings;
    } cases[] = {{3, {.keep = 1, .block = 1}},
                 {4, {.keep = 0, .block = 2, .room = 1}},
                 {9, {.keep = 2, .block = 3, .room = 2}},
                 {12, {.keep = 1, .block = 5, .room = 4}},
                 {8, {.keep = 5, .block = 3}}};
    for (const auto& c : cases) {
        std::mt19937 random(2);
        toy m = model(c.capacity);
        model_drafter inner(m);
        windowed_drafter drafter(inner, c.settings);
        const std::size_t keep = c.settings.keep, block = c.settings.block;
        const std::size_t left = c.capacity - keep - block;
        const std::size_t room = std::min(c.settings.room, left);
        ids text = numbers(1), last;
        std::size_t round = 0;
        const auto expected = [&](const ids& context) {
            const std::size_t whole = context.size() < round ? context.size() : round + room;
            return row_of(without(context, keep,
                                  std::max(least(whole, c.capacity, block),
                                           least(context.size(), c.capacity, block))));
        };
        const auto sync = [&](const ids& context) {
            std::size_t same = 0;
            while (same < last.size() && same < context.size() && last[same] == context[same])
                ++same;
            last = context;
            drafter.sync(last, random() % 4 == 0 ? same / 2 : same);
        };
        const auto some = [&](ids context, std::size_t most) {
            for (std::size_t n = random() % (most + 1); n > 0; --n)
                context.push_back(draft_id{static_cast<std::int32_t>(random() % 3)});
            return context;
        };
        for (int step = 0; step < 400; ++step) {
            if (random() % 8 != 0) {
                round = text.size();
                drafter.begin_draft_round(round);
            }
            for (std::size_t asks = random() % 5; asks > 0; --asks) {
                ids context = some(text, 6);
                sync(context);
                if (random() % 3 == 0) {
                    const std::size_t n = 1 + random() % std::min<std::size_t>(context.size(), 5);
                    const logits_rows<draft_id> rows = drafter.rows(n);
                    REQUIRE(rows.size() == n);
                    for (std::size_t i = 0; i < n; ++i)
                        REQUIRE(
                            copy_of(rows[i].values) ==
                            expected(ids(context.begin(),
                                         context.end() - static_cast<std::ptrdiff_t>(n - 1 - i))));
                    continue;
                }
                for (std::size_t pushes = random() % 6; pushes > 0; --pushes) {
                    REQUIRE(copy_of(drafter.row().values) == expected(context));
                    context.push_back(draft_id{static_cast<std::int32_t>(random() % 3)});
                    drafter.push(context.back());
                }
            }
            text = some(text, 3);
            if (random() % 20 == 0)
                text.resize(text.size() - std::min<std::size_t>(text.size() - 1, random() % 4));
            if (random() % 150 == 0)
                text = numbers(2); // another text
        }
    }
}

TEST_CASE("windowed drafter: what a tree's path left at the model is not fed again") {
    toy_tree_model<draft_id> tree_model(vocabulary, row_of, 8);
    model_drafter inner(tree_model);
    windowed_drafter drafter(inner, {.keep = 2, .block = 2, .room = 2});
    drafter.sync(numbers(9), 0);
    (void)drafter.row();
    const std::size_t root[]{tree_root}, first[]{0};
    (void)drafter.grow(ids{draft_id{1}}, root);
    drafter.keep(first, ids{draft_id{1}});
    ids shown = without(numbers(9), 2, 2);
    shown.push_back(draft_id{1});
    CHECK(tree_model.held() == shown);
}

TEST_CASE("windowed drafter: a model that fails at any call leaves it usable") {
    for (std::size_t at = 0; at < 60; ++at) {
        failing_model<toy, draft_id> m(model(6));
        model_drafter inner(m);
        windowed_drafter drafter(inner, {.keep = 1, .block = 2, .room = 2});
        m.calls = 0;
        m.fails_at = at;
        ids text = numbers(3);
        std::size_t seen = 0; // of the text, by the last sync that returned
        int failures = 0;
        for (int step = 0; step < 25; ++step) {
            for (int tries = 0; tries < 2; ++tries) {
                try {
                    drafter.begin_draft_round(text.size());
                    drafter.sync(text, seen);
                    seen = text.size();
                    const std::size_t dropped = least(text.size() + 2, 6, 2);
                    ids shown = without(text, 1, dropped);
                    for (int i = 0; i < 3; ++i) { // one more than there is room
                        if (i == 2)
                            shown = without(shown, 1, least(shown.size(), 6, 2));
                        const std::vector<float> row = copy_of(drafter.row().values);
                        REQUIRE(row == row_of(shown));
                        drafter.push(draft_id{2});
                        shown.push_back(draft_id{2});
                    }
                    break;
                } catch (const model_failure&) {
                    ++failures;
                }
            }
            text.push_back(draft_id{step % 3});
        }
        REQUIRE(failures == 1);
    }
}

TEST_CASE("windowed drafter: a drafter that throws in sync is told all of the next context") {
    struct throws_once : script_drafter {
        using script_drafter::script_drafter;
        bool fails = false;
        void sync(std::span<const draft_id> text, std::size_t same) {
            if (std::exchange(fails, false))
                throw model_failure();
            script_drafter::sync(text, same);
        }
    } inner(3, {draft_id{0}}, 8);
    windowed_drafter drafter(inner, {.block = 2});
    const ids first = numbers(3);
    const ids other{draft_id{0}, draft_id{2}, draft_id{2}, draft_id{2}};
    drafter.sync(first, 0);
    inner.fails = true;
    CHECK_THROWS_AS(drafter.sync(other, 1), model_failure);
    drafter.sync(numbers(5), 3); // as in the sync that returned
    CHECK(inner.context == numbers(5));
    CHECK(inner.unchanged == 0);
}

TEST_CASE("windowed drafter: where rounds are told, the rest is fed again once a block") {
    toy m = model(64);
    model_drafter inner(m);
    windowed_drafter drafter(inner, {.keep = 1, .block = 20, .room = 8});
    std::mt19937 random(4);
    ids text = numbers(5);
    std::size_t moves = 0, longest_feed = 0;
    while (text.size() < 1000) {
        drafter.begin_draft_round(text.size());
        const std::size_t dropped = drafter.dropped(), fed = m.fed;
        for (int ask = 0; ask < 4; ++ask) { // as string bridges do: up and down, none by push
            ids context = text;
            for (std::size_t n = random() % 8; n > 0; --n)
                context.push_back(draft_id{1});
            drafter.sync(context, ask == 0 ? text.size() / 2 : text.size());
            (void)drafter.row();
        }
        moves += drafter.dropped() != dropped ? 1U : 0U;
        longest_feed = std::max(longest_feed, m.fed - fed);
        text.resize(text.size() + random() % 4, draft_id{1});
    }
    CHECK(moves == drafter.dropped() / 20);
    CHECK(moves > 40);
    CHECK(longest_feed <= 64 - 20 + 4 * 8);
}

} // namespace windowed_drafter_tests
