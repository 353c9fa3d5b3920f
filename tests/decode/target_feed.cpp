// SPDX-License-Identifier: MIT
#include <specdec/decode/target_feed.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using specdec::testing::toy_model;

namespace target_feed_tests {

constexpr auto ids = specdec::testing::ids_of<target_id>;

TEST_CASE("a target is fed what it lacks, but for the tokens whose rows are wanted") {
    toy_model<target_id> model(9, [](const auto&) { return std::vector<float>(9); });
    target_feed feed;
    feed.reserve(20);
    feed.start();
    const auto round = [&](const std::vector<target_id>& text, std::size_t committed) {
        const auto edit = feed.prepare(model, text, committed);
        CHECK(edit.truncate_to == model.size());
        CHECK(edit.append.size() == text.size() - committed + 1);
        (void)model.score(edit.append);
        feed.fed(edit, committed);
        CHECK(model.held() == text);
        const std::size_t fed = model.fed;
        model.fed = 0;
        return fed;
    };
    CHECK(round(ids({1, 2, 3, 4, 5}), 3) == 5); // a prompt of three, two proposals
    CHECK(round(ids({1, 2, 3, 4, 6, 7}), 5) == 2);
    CHECK(feed.edit(ids({1, 2, 3, 4, 6, 7}), 6).truncate_to == 5);
    feed.lost();
    CHECK(feed.edit(ids({1, 2, 3}), 3).append.size() == 3);
    model.truncate(0);
    CHECK(round(ids({1, 2, 3}), 3) == 3);
    feed.start(); // a text with the same beginning
    CHECK(round(ids({1, 2, 8, 0}), 3) == 2);
    CHECK_THROWS_AS(feed.prepare(model, ids({1, 2, 9}), 3), error);
}

} // namespace target_feed_tests
