// SPDX-License-Identifier: MIT
#include <specdec/reference/tokenizer/merge_table.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <vector>

using specdec::reference::merge;
using specdec::reference::merge_table;
using symbols = std::vector<std::int32_t>;

namespace {

symbols joined(const merge_table& table, symbols s) {
    merge_table::scratch scratch;
    table.join(s, scratch);
    return s;
}

/// The definition: join the pair of smallest rank, leftmost first.
symbols joined_naively(const merge_table& table, symbols s) {
    for (;;) {
        merge best;
        std::size_t at = 0;
        for (std::size_t i = 0; i + 1 < s.size(); ++i)
            if (const merge m = table.find(s[i], s[i + 1]); m.rank < best.rank) {
                best = m;
                at = i;
            }
        if (best.id < 0)
            return s;
        s[at] = best.id;
        s.erase(s.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
}

} // namespace

TEST_CASE("a smaller rank joins first, and of equal ones the leftmost") {
    merge_table table;
    CHECK(table.add(0, 1, {1, 10}));
    CHECK(table.add(1, 2, {0, 11}));
    CHECK(table.add(0, 0, {2, 12}));
    CHECK_FALSE(table.add(0, 1, {5, 13}));
    CHECK(joined(table, {}) == symbols{});
    CHECK(joined(table, {0}) == symbols{0});
    CHECK(joined(table, {0, 1, 2}) == symbols{0, 11});
    CHECK(joined(table, {0, 1, 1, 2}) == symbols{10, 11});
    CHECK(joined(table, {0, 0, 0}) == symbols{12, 0});
    CHECK(joined(table, {2, 1, 0}) == symbols{2, 1, 0});
}

TEST_CASE("long sequences join like the definition says") {
    std::mt19937 random(7);
    const auto below = [&random](int n) {
        return static_cast<std::int32_t>(random() % static_cast<unsigned>(n));
    };
    for (int round = 0; round < 60; ++round) {
        merge_table table;
        std::int32_t next = 3;
        for (int i = 0; i < 30; ++i)
            if (table.add(below(next), below(next), {below(12), next}))
                ++next;
        for (const int length : {3, 20, 32, 33, 70, 200}) {
            symbols s;
            for (int i = 0; i < length; ++i)
                s.push_back(below(3));
            CHECK(joined(table, s) == joined_naively(table, s));
        }
    }
}
