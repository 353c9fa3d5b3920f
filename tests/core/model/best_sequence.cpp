// SPDX-License-Identifier: MIT
#include <specdec/core/model/best_sequence.hpp>

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"

using namespace specdec;

namespace best_sequence_tests {

constexpr auto ids = testing::ids_of<target_id>;

struct sequences {
    std::vector<std::vector<target_id>> held;
    std::vector<bool> taken = std::vector<bool>(held.size(), false);
    std::vector<std::uint64_t> used = std::vector<std::uint64_t>(held.size(), 0);

    [[nodiscard]] std::size_t best(const std::vector<target_id>& prompt) const {
        return best_sequence(
            held.size(), [&](std::size_t s) { return !taken[s]; },
            [&](std::size_t s) { return cost_of_reuse<target_id>(held[s], prompt); },
            [&](std::size_t s) { return used[s]; });
    }
};

TEST_CASE("best sequence: a token that is fed costs one, a token that is lost a half") {
    CHECK(cost_of_reuse<target_id>(ids({}), ids({1, 2})) == 2);
    CHECK(cost_of_reuse<target_id>(ids({1, 2, 3, 4}), ids({1, 2})) == 1);
    CHECK(cost_of_reuse<target_id>(ids({1, 3, 4}), ids({1, 2, 5, 6})) == 4);
    CHECK(cost_of_reuse<target_id>(ids({1, 2}), ids({1, 2})) == 0);
    CHECK(cost_of_reuse<target_id>(ids({1, 2}), ids({1, 2}), false) == 3); // of another key
}

TEST_CASE("best sequence: a short common beginning is no reason to lose a long context") {
    sequences x{{ids({1, 2, 3, 4, 5, 6, 7, 8}), ids({})}};
    CHECK(x.best(ids({1, 9, 9, 9})) == 1);             // 3 + 7 / 2, and 4
    CHECK(x.best(ids({1, 2, 3, 4, 5, 9, 9, 9})) == 0); // 3 + 3 / 2, and 8
    x.taken[1] = true;
    CHECK(x.best(ids({1, 9, 9, 9})) == 0);
    x.taken[0] = true;
    CHECK(x.best(ids({1})) == 2); // none
}

TEST_CASE("best sequence: of those that cost the same, the least recently used, then the first") {
    sequences x{{ids({1, 2}), ids({3, 4}), ids({5, 6})}};
    CHECK(x.best(ids({9})) == 0);
    x.used = {7, 5, 6};
    CHECK(x.best(ids({9})) == 1);
    x.taken[1] = true;
    CHECK(x.best(ids({9})) == 2);
    x.used = {4, 5, 4};
    CHECK(x.best(ids({9})) == 0);
}

} // namespace best_sequence_tests
