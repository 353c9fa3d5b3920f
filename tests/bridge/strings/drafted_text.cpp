// SPDX-License-Identifier: MIT
#include <specdec/bridge/strings/drafted_text.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace drafted_text_tests {

TEST_CASE("a drafted text is its tokens behind the committed ones, to the end and the room") {
    const toy_pair two;
    drafted_text text(two.target, two.draft, two.map, 16, 4);
    CHECK(text.most_bytes() == 8); // the longest draft tokens have two
    const draft_id a{1}, space{2}, c{4}, b{5};
    const target_id ids[] = {target_id{8}, target_id{4}, target_id{3}};
    text.follow(two.encode("c"));
    CHECK(text.tokens(8, {}).empty());
    for (const draft_id d : {a, b, c, space, c})
        CHECK(text.push(d));
    CHECK(copy_of(text.tokens(8, {})) == std::vector(ids, ids + 3));
    CHECK(copy_of(text.tokens(8, {})) == std::vector(ids, ids + 3)); // asking changes nothing
    CHECK(copy_of(text.tokens(8, std::span(ids).subspan(1, 1))) == std::vector(ids, ids + 2));
    CHECK(copy_of(text.tokens(1, {})) == std::vector(ids, ids + 1));
    CHECK(text.tokens(0, {}).empty());

    CHECK_FALSE(text.push(toy_pair::stop));
    CHECK(text.tokens(8, {}).back() == toy_pair::end);
    text.clear();
    CHECK(text.tokens(8, {}).empty());
    CHECK_FALSE(text.push(toy_pair::bos)); // without an equivalent
    CHECK(text.tokens(8, {}).empty());

    text.clear();
    text.follow(two.encode("a")); // goes on inside a token: ab would be one
    CHECK(text.push(b));
    CHECK(copy_of(text.tokens(8, {})) == std::vector{target_id{2}});
    text.start();
    text.follow(two.encode("c"));
    CHECK(copy_of(text.tokens(8, {})) == std::vector{target_id{2}});
}

} // namespace drafted_text_tests
