// SPDX-License-Identifier: MIT
#include <specdec/draft/counted/count_shares.hpp>

#include <set>

#include <catch2/catch.hpp>

using namespace specdec;

namespace count_shares_tests {

constexpr successor_counts::successor one[] = {{draft_id{3}, 1}};
constexpr successor_counts::successor two[] = {{draft_id{3}, 0.8F}, {draft_id{4}, 1}};
constexpr auto all = count_shares::of_all_texts, own = count_shares::of_this_text;

TEST_CASE("a longer match is believed more, before anything is learnt") {
    const count_shares shares;
    const auto of = [&](std::size_t order) {
        return shares.of(count_shares::cell_of(own, {order, 1, one}));
    };
    CHECK(of(1) == Approx(0.1));
    CHECK(of(2) == Approx(0.2));
    CHECK(of(3) == Approx(0.4));
    for (const std::size_t order : {4U, 6U, 8U})
        CHECK(of(order) == Approx(0.6));
}

TEST_CASE("each kind of match has a share of its own") {
    std::set<std::size_t> cells;
    for (const auto from : {all, own})
        for (const std::size_t order : successor_counts::orders)
            for (const double weight : {1.0, 2.44, 2.95}) {
                cells.insert(count_shares::cell_of(from, {order, weight, one}));
                cells.insert(count_shares::cell_of(from, {order, weight, two}));
            }
    CHECK(cells.size() == 72);
    CHECK(*cells.rbegin() == 71);
}

TEST_CASE("what comes true is believed more, and what does not less") {
    count_shares shares;
    const std::size_t cell = count_shares::cell_of(all, {2, 1, one});
    counted_saying said{.cell = cell, .lambda = 0.2, .id = {draft_id{3}}, .c = {1}, .q = {0.2}};
    shares.learn(said, draft_id{3});
    const double r = 0.2 / (0.2 + 0.8 * 0.2 + 1e-4);
    CHECK(shares.of(cell) == Approx((5 * 0.2 + r) / 6));
    shares.learn(said, draft_id{5});
    CHECK(shares.of(cell) == Approx((5 * 0.2 + r) / 7));
    CHECK(shares.of(count_shares::cell_of(own, {2, 1, one})) == Approx(0.2)); // another kind
    said.lambda = 0; // nothing was mixed in
    shares.learn(said, draft_id{3});
    CHECK(shares.of(cell) == Approx((5 * 0.2 + r) / 7));
    said.lambda = 0.5;
    for (int i = 0; i < 10000; ++i)
        shares.learn(said, draft_id{3});
    CHECK(shares.of(cell) < 1);
    const double sure = shares.of(cell);
    for (int i = 0; i < 100; ++i) // what is long ago is forgotten
        shares.learn(said, draft_id{5});
    CHECK(shares.of(cell) < 0.6 * sure);
    shares.forget();
    CHECK(shares.of(cell) == Approx(0.2));
}

} // namespace count_shares_tests
