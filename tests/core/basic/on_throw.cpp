// SPDX-License-Identifier: MIT
#include <specdec/core/basic/on_throw.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("what a throw would leave half changed is put back, and nothing else") {
    int undone = 0;
    const auto change = [&](bool throws) {
        on_throw guard([&] { ++undone; });
        if (throws)
            throw 1;
        guard.done();
    };
    change(false);
    CHECK(undone == 0);
    CHECK_THROWS_AS(change(true), int);
    CHECK(undone == 1);
}
