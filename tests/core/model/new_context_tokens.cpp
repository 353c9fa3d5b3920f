// SPDX-License-Identifier: MIT
#include <specdec/core/model/new_context_tokens.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/counted_id.hpp"
#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace new_context_tokens_tests {

struct heard {
    std::vector<int> gained{};
    std::size_t lost = 0, times = 0;
};
struct listener {
    new_context_tokens<draft_id> tokens;

    heard feed(const std::vector<draft_id>& ids) {
        heard all;
        tokens.feed(tokens.held().size(), ids,
                    [&](std::span<const draft_id> text, std::size_t first, std::size_t lost) {
                        for (const draft_id id : text.subspan(first))
                            all.gained.push_back(id.value);
                        all.lost = lost;
                        ++all.times;
                    });
        tokens.fed(ids);
        return all;
    }
};

TEST_CASE("a context's tokens are told once, and those of drafts never") {
    listener text;
    CHECK(text.feed(ids_of({1})).times == 0); // no round has begun
    text.tokens.begin_draft_round(3);
    CHECK(text.tokens.awaited());
    CHECK(text.feed(ids_of({2})).gained == std::vector{1, 2}); // in two parts
    CHECK(text.tokens.awaited());
    CHECK(text.feed(ids_of({3, 8, 9})).gained == std::vector{3});
    CHECK_FALSE(text.tokens.awaited());
    CHECK(text.feed(ids_of({7})).times == 0);
    text.tokens.truncated(4); // 8 was kept
    text.tokens.begin_draft_round(5);
    CHECK(text.feed(ids_of({4})).gained == std::vector{8, 4});
    text.tokens.begin_draft_round(5);
    text.tokens.truncated(4);
    const heard again = text.feed(ids_of({4})); // the round again
    CHECK(again.times == 0);
}

TEST_CASE("a round compares the tokens that have changed, however long the context is") {
    new_context_tokens<counted_id> tokens;
    std::size_t told = 0;
    const auto feed = [&](const std::vector<counted_id>& ids) {
        return comparisons_of([&] {
            tokens.feed(tokens.held().size(), ids,
                        [&](std::span<const counted_id> text, std::size_t first, std::size_t) {
                            told += text.size() - first;
                        });
            tokens.fed(ids);
        });
    };
    tokens.begin_draft_round(10000);
    CHECK(feed(std::vector<counted_id>(10000)) == 0);
    CHECK(feed(std::vector<counted_id>(4)) == 0); // drafted
    tokens.truncated(10002);
    tokens.begin_draft_round(10003);
    CHECK(feed(std::vector<counted_id>(1)) == 10000); // the prompt, once
    tokens.begin_draft_round(10004);
    CHECK(feed(std::vector<counted_id>(1)) == 1);
    CHECK(told == 10004);
}

TEST_CASE("what another text has in its place is told with what was lost") {
    listener text;
    text.tokens.begin_draft_round(4);
    CHECK(text.feed(ids_of({1, 2, 3, 4})).lost == 0);
    text.tokens.truncated(1);
    text.tokens.begin_draft_round(3);
    const heard other = text.feed(ids_of({7, 8}));
    CHECK(other.gained == std::vector{7, 8});
    CHECK(other.lost == 3);
    text.tokens.truncated(1);
    text.tokens.begin_draft_round(2);
    const heard begins_so = text.feed(ids_of({7})); // and goes on, perhaps, as it did
    CHECK(begins_so.gained.empty());
    CHECK(begins_so.lost == 1);
    text.tokens.begin_draft_round(3);
    CHECK(text.feed(ids_of({8})).gained == std::vector{8});
    text.tokens.truncated(0);
    text.tokens.forget();
    text.tokens.begin_draft_round(2);
    const heard anew = text.feed(ids_of({1, 7}));
    CHECK(anew.gained == std::vector{1, 7});
    CHECK(anew.lost == 0);
}

} // namespace new_context_tokens_tests
