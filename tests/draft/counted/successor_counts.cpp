// SPDX-License-Identifier: MIT
#include <specdec/draft/counted/successor_counts.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace successor_counts_tests {

/// A text, token by token.
void read(successor_counts& counts, const std::vector<draft_id>& text) {
    for (std::size_t i = 0; i < text.size(); ++i)
        counts.learn(std::span(text).first(i), text[i]);
}
float weight_of(const successor_counts::found& seen, int id) {
    for (const auto& s : seen.successors)
        if (s.id == draft_id{id})
            return s.weight;
    return 0;
}

TEST_CASE("what followed the longest n-gram that was seen") {
    successor_counts counts;
    read(counts, ids_of({1, 2, 3, 4, 5, 6, 7, 8, 9}));
    const auto longest = counts.find(ids_of({0, 1, 2, 3, 4, 5, 6, 7, 8}));
    CHECK(longest.order == 8);
    CHECK(weight_of(longest, 9) == 1);
    CHECK(longest.weight == 1);
    CHECK(counts.find(ids_of({1, 2, 3, 4, 5, 6, 7})).order == 6); // of 7 tokens, none is kept
    CHECK(counts.find(ids_of({9, 2, 3, 4})).order == 3);
    CHECK(counts.find(ids_of({9, 9, 3, 4})).order == 2);
    CHECK(counts.find(ids_of({9, 9, 9, 4})).order == 1);
    CHECK(counts.find(ids_of({9})).order == 0);
    CHECK(counts.find({}).order == 0);
}

TEST_CASE("what was said lately counts most, and four successors are known") {
    successor_counts counts;
    const auto before = ids_of({1});
    counts.learn(before, draft_id{2});
    counts.learn(before, draft_id{2});
    counts.learn(before, draft_id{3});
    const auto seen = counts.find(before);
    CHECK(weight_of(seen, 2) == Approx(1.8 * 0.8));
    CHECK(weight_of(seen, 3) == 1);
    CHECK(seen.weight == Approx(1 + 1.8 * 0.8));
    for (int id = 4; id < 8; ++id)
        counts.learn(before, draft_id{id});
    const auto later = counts.find(before);
    CHECK(weight_of(later, 3) == 0); // the lightest made room, and then the next
    CHECK(weight_of(later, 7) == 1);
    CHECK(weight_of(later, 6) == Approx(0.8));
    CHECK(weight_of(later, 5) == Approx(0.64));
}

TEST_CASE("an n-gram takes another one's place by and by, and is never taken for it") {
    successor_counts counts(16);
    std::size_t found = 0;
    for (int i = 0; i < 1000; ++i)
        counts.learn(std::vector{draft_id{i}}, draft_id{i + 1});
    for (int i = 0; i < 1000; ++i) {
        const auto seen = counts.find(std::vector{draft_id{i}});
        found += seen.order;
        if (seen.order > 0)
            CHECK(weight_of(seen, i + 1) > 0);
    }
    CHECK(found > 0);
    CHECK(found <= 16);
}

TEST_CASE("counts are forgotten; marks move with whatever is learnt") {
    successor_counts counts;
    const auto untaught = counts.version();
    read(counts, ids_of({1, 2}));
    CHECK(counts.find(ids_of({1})).order == 1);
    const auto taught = counts.version();
    CHECK(taught != untaught);
    counts.forget();
    CHECK(counts.find(ids_of({1})).order == 0);
    CHECK(counts.version() != taught);
    CHECK(counts.memory() == (std::size_t{1} << 18) * 36);
    CHECK_THROWS_AS(successor_counts(15), error);
    CHECK_THROWS_AS(successor_counts(std::size_t{1} << 32), error);
}

} // namespace successor_counts_tests
