// SPDX-License-Identifier: MIT
#include <specdec/draft/model_drafter.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "support/archetypes.hpp"
#include "support/failing_model.hpp"
#include "support/holds.hpp"
#include "support/ids.hpp"
#include "support/toy_model.hpp"
#include "support/toy_rows.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace model_drafter_tests {

using ids = std::vector<draft_id>;
using toy = toy_model<draft_id>;
constexpr std::size_t vocabulary = 3;

std::vector<float> row_of(const ids& context) {
    return toy_rows(row_kind::random, vocabulary, 3)(values_of(context));
}

toy model() {
    return toy(vocabulary, row_of);
}

std::size_t agreeing(const ids& a, const ids& b) {
    std::size_t n = 0;
    while (n < a.size() && n < b.size() && a[n] == b[n])
        ++n;
    return n;
}

ids random_context(std::mt19937& random, std::size_t most) {
    ids context(1 + random() % most);
    for (draft_id& id : context)
        id = draft_id{static_cast<std::int32_t>(random() % 2)};
    return context;
}

TEST_CASE("what a model holds at construction is dropped") {
    toy m = model();
    m.append(ids_of({1, 1, 1}));
    model_drafter drafter(m);
    CHECK(m.size() == 0);
    CHECK(drafter.capacity() == m.capacity());
    const ids context = ids_of({0});
    drafter.sync(context, 0);
    CHECK(copy_of(drafter.row().values) == row_of(context));
}

TEST_CASE("what a model that tells it holds at construction is used, if that is wished") {
    for (const left_context left : {left_context::reused, left_context::dropped}) {
        toy m = model();
        m.append(ids_of({0, 1, 1}));
        m.fed = 0;
        model_drafter drafter(m, left);
        CHECK(m.size() == (left == left_context::reused ? 3U : 0U));
        const ids context = ids_of({0, 1, 0, 1});
        drafter.sync(context, 0);
        CHECK(copy_of(drafter.row().values) == row_of(context));
        CHECK(m.fed == (left == left_context::reused ? 2U : 4U));
    }
}

TEST_CASE("nothing is fed before a row is asked for, and then only what is new") {
    toy m = model();
    model_drafter drafter(m);
    const ids first = ids_of({0, 1, 2});
    drafter.sync(first, 0);
    CHECK(m.fed == 0);
    CHECK(drafter.pending().truncate_to == 0);
    CHECK(drafter.pending().append.size() == 3);
    CHECK(copy_of(drafter.row().values) == row_of(first));
    CHECK(m.fed == 3);

    drafter.push(draft_id{1});
    CHECK(m.fed == 3);
    CHECK(copy_of(drafter.row().values) == row_of(ids_of({0, 1, 2, 1})));
    CHECK(m.fed == 4);
    drafter.push(draft_id{2}); // never fed: no row is asked for

    const ids accepted = ids_of({0, 1, 2, 1, 0});
    drafter.sync(accepted, 3);
    CHECK(drafter.pending().truncate_to == 4); // the accepted draft token is still there
    CHECK(copy_of(drafter.row().values) == row_of(accepted));
    CHECK(m.fed == 5);
    CHECK(m.held() == accepted);

    const ids rejected = ids_of({0, 1, 1});
    drafter.sync(rejected, 2);
    CHECK(m.size() == 5);
    CHECK(copy_of(drafter.row().values) == row_of(rejected));
    CHECK(m.fed == 6);
    CHECK(m.held() == rejected);
}

TEST_CASE("a long tail is fed without rows, a short one in one pass") {
    for (const std::size_t length : {1U, 2U, 8U, 9U, 50U}) {
        std::size_t rows = 0;
        toy m(vocabulary, [&](const ids& context) {
            ++rows;
            return row_of(context);
        });
        model_drafter drafter(m);
        std::mt19937 random(static_cast<unsigned>(length));
        ids context = random_context(random, 1);
        while (context.size() < length)
            context.push_back(draft_id{1});
        drafter.sync(context, 0);
        CHECK(copy_of(drafter.row().values) == row_of(context));
        CHECK(m.fed == length);
        CHECK(m.calls == 1);
        CHECK(rows == (length > 8 ? 1 : length));
    }
}

TEST_CASE("any contexts: always the right row, always the shortest edit") {
    const auto tokens = [](std::size_t most, std::size_t kinds) {
        return up_to(most, any_in(0, kinds - 1));
    };
    // How much of the last context stays; what is new; what is pushed behind it, unless the round
    // is given up (3).
    const auto steps =
        up_to(60, rc::gen::tuple(any_in(0, 20), tokens(20, 2), tokens(3, 3), any_in(0, 3)));
    require_holds([&] {
        toy m = model();
        model_drafter drafter(m);
        ids last;
        for (const auto& [stay, more, behind, what] : *steps) {
            ids context(last.begin(),
                        last.begin() + static_cast<std::ptrdiff_t>(std::min(stay, last.size())));
            for (const std::size_t id : more)
                context.push_back(id_at<draft_id>(id));
            if (context.empty())
                context.push_back(draft_id{0});
            const ids held = m.held();
            const std::size_t fed = m.fed;
            drafter.sync(context, agreeing(last, context));
            last = context;
            if (what == 3)
                continue;
            RC_ASSERT(copy_of(drafter.row().values) == row_of(context));
            const std::size_t kept = std::min(agreeing(held, context), context.size() - 1);
            RC_ASSERT(m.fed - fed == context.size() - kept);
            ids pushed = context;
            for (const std::size_t id : behind) {
                pushed.push_back(id_at<draft_id>(id));
                drafter.push(pushed.back());
                RC_ASSERT(copy_of(drafter.row().values) == row_of(pushed));
            }
        }
    });
}

TEST_CASE("a model that fails at any call leaves the drafter usable") {
    // Every script ends with rows that must be right although one call before has thrown.
    for (std::size_t at = 0; at < 40; ++at) {
        std::mt19937 random(5);
        failing_model<toy, draft_id> m(model());
        model_drafter drafter(m);
        m.calls = 0;
        m.fails_at = at;
        ids last;
        int failures = 0;
        for (int step = 0; step < 40; ++step) {
            ids context = random_context(random, 20);
            for (std::size_t i = 0; i < context.size() && i < last.size() && i < 9; ++i)
                context[i] = last[i];
            drafter.sync(context, agreeing(last, context));
            last = context;
            try {
                const std::vector<float> row = copy_of(drafter.row().values);
                REQUIRE(row == row_of(context));
                drafter.push(draft_id{2});
                ids pushed = context;
                pushed.push_back(draft_id{2});
                const std::vector<float> behind = copy_of(drafter.row().values);
                REQUIRE(behind == row_of(pushed));
            } catch (const model_failure&) {
                ++failures;
                if (step % 2 == 0) { // the same row once more
                    drafter.sync(context, context.size());
                    REQUIRE(copy_of(drafter.row().values) == row_of(context));
                }
            }
        }
        REQUIRE(failures == 1);
    }
}

TEST_CASE("model_drafter: the rows behind the last tokens of a context, in one pass") {
    toy m = model();
    model_drafter drafter(m);
    const ids context = ids_of({0, 1, 0, 1, 1});
    drafter.sync(context, 0);
    const logits_rows<draft_id> rows = drafter.rows(3);
    REQUIRE(rows.size() == 3);
    CHECK(m.calls == 1);
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(copy_of(rows[i].values) ==
              row_of(ids(context.begin(), context.begin() + 3 + static_cast<std::ptrdiff_t>(i))));

    // The model holds the tokens, but their rows are gone.
    drafter.sync(context, context.size());
    CHECK(copy_of(drafter.rows(2)[0].values) == row_of(ids_of({0, 1, 0, 1})));
    CHECK(m.held() == context);

    // A long context is fed without rows but for the last.
    const ids longer(30, draft_id{1});
    drafter.sync(longer, 0);
    CHECK(copy_of(drafter.rows(2)[1].values) == row_of(longer));
    CHECK(m.held() == longer);
}

TEST_CASE("a context that the engine dropped is fed again") {
    toy m = model();
    model_drafter drafter(m);
    const ids context = ids_of({0, 1, 0, 0, 1});
    drafter.sync(context, 0);
    (void)drafter.row();
    m.truncate(0);
    const ids longer = ids_of({0, 1, 0, 0, 1, 1});
    drafter.sync(longer, 5);
    CHECK(copy_of(drafter.row().values) == row_of(longer));
}

} // namespace model_drafter_tests
