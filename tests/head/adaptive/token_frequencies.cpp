// SPDX-License-Identifier: MIT
#include <specdec/head/adaptive/token_frequencies.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace counts_tests {

token_list<draft_id> list_of(const std::vector<int>& numbers) {
    return {ids_of(numbers), 6};
}

/// 5 three times, 1 and 3 twice, 0 once; 2 and 4 never.
token_frequencies<draft_id> some_counts() {
    token_frequencies<draft_id> counts(6);
    counts.add(ids_of({5, 1, 3, 5}));
    counts.add(ids_of({3, 1, 5, 0}));
    counts.add({});
    return counts;
}

TEST_CASE("counts add up over pieces of a text") {
    const token_frequencies<draft_id> counts = some_counts();
    CHECK(counts.total() == 8);
    CHECK(counts.of(draft_id{5}) == 3);
    CHECK(counts.of(draft_id{4}) == 0);
    CHECK(counts.coverage(list_of({1, 5})) == Approx(5.0 / 8));
    CHECK(token_frequencies<draft_id>(6).coverage(list_of({1})) == 0);
}

TEST_CASE("lists by size, by share and by frequency") {
    const token_frequencies<draft_id> counts = some_counts();
    CHECK(counts.most(1) == list_of({5}));
    CHECK(counts.most(2) == list_of({1, 5})); // the lower id of two equally frequent ones
    CHECK(counts.most(6) == every_token<draft_id>(6));
    CHECK(counts.covering(0.3) == list_of({5}));
    CHECK(counts.covering(0.5) == list_of({1, 5}));
    CHECK(counts.covering(0.63) == list_of({1, 3, 5}));
    CHECK(counts.covering(1) == list_of({0, 1, 3, 5})); // no token that never occurs
    CHECK(counts.at_least(2) == list_of({1, 3, 5}));
    CHECK(counts.at_least(0) == every_token<draft_id>(6));
}

TEST_CASE("tokens that stay are part of every list") {
    const token_frequencies<draft_id> counts = some_counts();
    const std::vector<draft_id> stay = ids_of({4, 1, 4});
    CHECK(counts.most(3, stay) == list_of({1, 4, 5}));
    CHECK(counts.most(1, stay) == list_of({1, 4}));
    CHECK(counts.covering(0.6, stay) == list_of({1, 4, 5}));
    CHECK(counts.at_least(3, stay) == list_of({1, 4, 5}));
}

TEST_CASE("what cannot be counted or listed is refused") {
    using Catch::Contains;
    token_frequencies<draft_id> counts = some_counts();
    CHECK_THROWS_WITH(counts.add(ids_of({0, 6})), Contains("token frequencies"));
    CHECK(counts.total() == 8);
    CHECK_THROWS_WITH(counts.of(draft_id{}), Contains("found -1"));
    CHECK_THROWS_WITH(counts.coverage(every_token<draft_id>(7)), Contains("found 6"));
    CHECK_THROWS_WITH(counts.most(0), Contains("size"));
    CHECK_THROWS_WITH(counts.most(7), Contains("size"));
    CHECK_THROWS_WITH(counts.covering(0), Contains("share"));
    CHECK_THROWS_WITH(counts.covering(1.1), Contains("share"));
    CHECK_THROWS_WITH(counts.at_least(9), Contains("ids"));
    CHECK_THROWS_WITH(counts.most(2, ids_of({7})), Contains("stay"));
}

} // namespace counts_tests
