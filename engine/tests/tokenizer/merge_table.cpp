// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/merge_table.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

#include "support/holds.hpp"

using specdec::engine::merge;
using specdec::engine::merge_table;
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

TEST_CASE("sequences join like the definition says, whatever the table and however long") {
    using specdec::any_in, specdec::up_to;
    const auto merges = up_to(30, rc::gen::tuple(any_in(0, 32), any_in(0, 32), any_in(0, 11)));
    specdec::testing::require_holds(
        [&] {
            merge_table table;
            std::int32_t next = 3;
            for (const auto& [a, b, rank] : *merges)
                if (table.add(static_cast<std::int32_t>(a) % next,
                              static_cast<std::int32_t>(b) % next,
                              {static_cast<std::int32_t>(rank), next}))
                    ++next;
            const auto drawn = *up_to(200, any_in(0, 2));
            const symbols s(drawn.begin(), drawn.end());
            RC_ASSERT(joined(table, s) == joined_naively(table, s));
        },
        {.cases = 300});
}
