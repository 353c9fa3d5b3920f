// SPDX-License-Identifier: MIT
#include <specdec/head/adaptive/adaptive_token_list.hpp>

#include <limits>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"

using namespace specdec;

namespace adaptive_token_list_tests {

const token_list<draft_id> begin({draft_id{1}, draft_id{3}, draft_id{4}}, 8);

void see(adaptive_token_list<draft_id>& hot, std::initializer_list<int> numbers) {
    for (const int n : numbers)
        (void)hot.see(draft_id{n});
}
std::vector<int> ids_of(const adaptive_token_list<draft_id>& hot) {
    return testing::values_of(hot.ids());
}

TEST_CASE("a token outside takes the place of the one that occurred least") {
    adaptive_token_list<draft_id> hot(begin);
    see(hot, {1, 4});
    CHECK(hot.see(draft_id{7}) == std::optional<std::size_t>(1));
    CHECK(ids_of(hot) == std::vector{1, 7, 4});
    CHECK(hot.contains(draft_id{7}));
    for (const int outside : {3, -1, 8, 1 << 30})
        CHECK_FALSE(hot.contains(draft_id{outside}));
    CHECK(hot.see(draft_id{7}) == std::nullopt);
    CHECK(hot.size() == 3);
}

TEST_CASE("older occurrences count less") {
    adaptive_token_list<draft_id> hot(begin, {}, {.half_life = 2});
    see(hot, {1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4});
    see(hot, {0});
    CHECK(ids_of(hot) == std::vector{0, 3, 4}); // three of 1, long ago, are less than two of 4
}

TEST_CASE("weights stay finite, and their order stays, over texts of any length") {
    adaptive_token_list<draft_id> hot(begin, {}, {.half_life = 0.5});
    for (int i = 0; i < 3000; ++i)
        see(hot, {1, 3});
    see(hot, {0, 5});
    CHECK(ids_of(hot) == std::vector{5, 3, 0});
}

TEST_CASE("tokens that stay never go") {
    const std::vector<draft_id> stay{draft_id{1}, draft_id{4}, draft_id{6}};
    adaptive_token_list<draft_id> hot(begin, stay);
    see(hot, {3, 3, 3, 0, 5});
    CHECK(ids_of(hot) == std::vector{1, 5, 4});
    const std::vector<draft_id> all{draft_id{1}, draft_id{3}, draft_id{4}};
    adaptive_token_list<draft_id> fixed(begin, all);
    CHECK(fixed.see(draft_id{0}) == std::nullopt);
    CHECK(ids_of(fixed) == std::vector{1, 3, 4});
}

TEST_CASE("likely tokens have a part of the list, the latest of them") {
    const token_list<draft_id> four({draft_id{1}, draft_id{3}, draft_id{4}, draft_id{6}}, 12);
    adaptive_token_list<draft_id> hot(four, {}, {.likely = 0.5});
    see(hot, {3});
    CHECK(hot.see_likely(draft_id{8}) == std::optional<std::size_t>(3));
    CHECK(hot.see_likely(draft_id{9}) == std::optional<std::size_t>(2));
    CHECK(ids_of(hot) == std::vector{1, 3, 9, 8});
    CHECK(hot.see_likely(draft_id{10}) == std::optional<std::size_t>(3)); // 8 was the first of them
    CHECK(hot.see_likely(draft_id{1}) == std::nullopt);                   // inside
    CHECK(ids_of(hot) == std::vector{1, 3, 9, 10});
    see(hot, {11}); // what occurs takes no place of theirs
    CHECK(ids_of(hot) == std::vector{11, 3, 9, 10});
}

TEST_CASE("a likely token that occurs stays as all that occur") {
    adaptive_token_list<draft_id> hot(begin, {}, {.likely = 0.4}); // one of three
    see(hot, {1, 3});
    CHECK(hot.see_likely(draft_id{7}) == std::optional<std::size_t>(2));
    see(hot, {7, 7});
    CHECK(hot.see_likely(draft_id{5}) == std::optional<std::size_t>(0)); // 1 is the oldest
    CHECK(ids_of(hot) == std::vector{5, 3, 7});
    see(hot, {3, 0});
    CHECK(ids_of(hot) == std::vector{5, 3, 0}); // 7 occurred less than 3
}

TEST_CASE("likely tokens do not enter where they have no part, or where all stay") {
    adaptive_token_list<draft_id> none(begin, {}, {.likely = 0});
    CHECK(none.see_likely(draft_id{7}) == std::nullopt);
    adaptive_token_list<draft_id> some(begin, {}, {.likely = 1});
    CHECK(some.see_likely(draft_id{20}) == std::nullopt); // a target's padding
    const std::vector<draft_id> all{draft_id{1}, draft_id{3}, draft_id{4}};
    adaptive_token_list<draft_id> fixed(begin, all, {.likely = 1});
    CHECK(fixed.see_likely(draft_id{7}) == std::nullopt);
    CHECK(ids_of(fixed) == std::vector{1, 3, 4});
}

TEST_CASE("a list that is reset does as a new one") {
    const std::vector<draft_id> stays{draft_id{4}};
    adaptive_token_list<draft_id> fresh(begin, stays, {.likely = 0.5}), used = fresh;
    see(used, {7, 6, 6, 1, 0});
    (void)used.see_likely(draft_id{5});
    CHECK(ids_of(used) != ids_of(fresh));
    used.reset();
    CHECK(ids_of(used) == ids_of(fresh));
    for (const int id : {7, 1, 6, 3, 3, 0, 7}) {
        CHECK(used.see(draft_id{id}) == fresh.see(draft_id{id}));
        CHECK(used.see_likely(draft_id{id % 5}) == fresh.see_likely(draft_id{id % 5}));
        CHECK(ids_of(used) == ids_of(fresh));
    }
    CHECK(used.contains(draft_id{4}));
}

TEST_CASE("settings of a hot set that mean nothing are refused") {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const adaptive_token_list_settings bad : {adaptive_token_list_settings{.half_life = 0},
                                                   adaptive_token_list_settings{.half_life = 1e-4},
                                                   adaptive_token_list_settings{.prior = -1},
                                                   adaptive_token_list_settings{.prior = infinity}})
        CHECK_THROWS_WITH((adaptive_token_list<draft_id>(begin, {}, bad)),
                          Catch::Contains("half-life"));
    CHECK_THROWS_WITH((adaptive_token_list<draft_id>(begin, {}, {.likely = 1.5})),
                      Catch::Contains("likely"));
    const std::vector<draft_id> outside{draft_id{8}};
    CHECK_THROWS_WITH((adaptive_token_list<draft_id>(begin, outside)), Catch::Contains("stay"));
}

} // namespace adaptive_token_list_tests
