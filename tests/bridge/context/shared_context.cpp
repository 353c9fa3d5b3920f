// SPDX-License-Identifier: MIT
#include <specdec/bridge/context/shared_context.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/script_drafter.hpp"

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("a shared context is the prefix and the committed ids") {
    shared_context context(10, 16);
    CHECK(context.ids().empty());
    context.start(std::vector{draft_id{9}});
    context.follow(std::vector{target_id{1}, target_id{2}});
    context.follow({});
    context.follow(std::vector{target_id{3}});
    CHECK(copy_of(context.ids()) ==
          std::vector{draft_id{9}, draft_id{1}, draft_id{2}, draft_id{3}});
    CHECK(context.unchanged() == 0);
}

TEST_CASE("what was marked is unchanged until the next start") {
    shared_context context(10, 16);
    context.start({});
    context.follow(std::vector{target_id{1}, target_id{2}});
    context.mark();
    CHECK(context.unchanged() == 2);
    context.follow(std::vector{target_id{3}});
    CHECK(context.unchanged() == 2);
    context.mark();
    CHECK(context.unchanged() == 3);
    context.start({});
    CHECK(context.unchanged() == 0);
    CHECK(context.ids().empty());
}

TEST_CASE("an id that only the target has never reaches the drafter") {
    shared_context context(3, 16);
    context.start({});
    context.follow(std::vector{target_id{2}, target_id{3}, target_id{0}, target_id{}});
    CHECK(copy_of(context.ids()) == std::vector{draft_id{2}, draft_id{0}});
}
