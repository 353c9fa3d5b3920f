// SPDX-License-Identifier: MIT
#include <specdec/speculation/sequence_pool.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"

using namespace specdec;

namespace sequence_pool_tests {

constexpr auto ids = testing::ids_of<target_id>;

std::size_t free_for(const sequence_pool& seats, const std::vector<target_id>& prompt) {
    return seats.free_for(prompt, [](std::size_t) { return true; });
}

TEST_CASE("drafter seats: a text takes the free one that costs least") {
    sequence_pool seats(3);
    CHECK(seats.size() == 3);
    CHECK(free_for(seats, ids({1, 2})) == 0);
    const auto serve = [&](std::size_t s, const std::vector<target_id>& text) {
        seats.take(s);
        seats.follow(s, std::span(text).first(1));
        seats.follow(s, text);
    };
    serve(0, ids({1, 2, 3, 4}));
    CHECK(seats.any_taken());
    CHECK(free_for(seats, ids({1, 2, 3})) == 1); // 0 is taken
    serve(1, ids({1, 2, 5}));
    serve(2, ids({7, 8}));
    CHECK_THROWS_WITH(free_for(seats, ids({1})),
                      Catch::Contains("expected a free sequence of the drafter, all 3"));
    for (std::size_t s = 0; s < 3; ++s)
        seats.leave(s);
    CHECK_FALSE(seats.any_taken());
    CHECK(free_for(seats, ids({1, 2, 3, 9})) == 0);
    CHECK(free_for(seats, ids({1, 2, 5})) == 1);
    CHECK(free_for(seats, ids({1, 2})) == 1); // two tokens less are lost
    CHECK(free_for(seats, ids({7})) == 2);
    CHECK(free_for(seats, ids({9, 9})) == 2); // least is lost
    const auto served = [&](std::size_t s, const std::vector<target_id>& text) {
        serve(s, text);
        seats.leave(s);
    };
    served(0, ids({1, 2, 3, 4, 5, 6, 7, 8}));
    served(1, ids({7, 8, 5}));
    CHECK(free_for(seats, ids({1, 9, 9, 9})) == 2); // a common token is not worth a long text
    served(2, ids({7, 8, 9}));
    CHECK(free_for(seats, ids({1, 9, 9, 9})) ==
          1); // of two that cost the same, what was left first
}

TEST_CASE("drafter seats: a text of another key is worth nothing to this one") {
    sequence_pool seats(2);
    for (std::size_t s = 0; s < 2; ++s) {
        seats.take(s);
        seats.follow(s, s == 0 ? ids({1, 2, 3}) : ids({1, 2}));
        seats.leave(s);
    }
    CHECK(free_for(seats, ids({1, 2, 3, 4})) == 0);
    CHECK(seats.free_for(ids({1, 2, 3, 4}), [](std::size_t s) { return s == 1; }) == 1);
}

} // namespace sequence_pool_tests
