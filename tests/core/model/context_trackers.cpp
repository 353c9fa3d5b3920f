// SPDX-License-Identifier: MIT
#include <specdec/core/model/context_trackers.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

#include "support/ids.hpp"

using namespace specdec;

namespace context_trackers_tests {

constexpr auto ids = testing::ids_of<target_id>;
std::vector<target_id> told(const context_trackers<target_id>& of, std::size_t s,
                            std::size_t size) {
    const auto held = of.held(s, size);
    return {held.begin(), held.end()};
}

TEST_CASE("context mirrors: sequences hold what they were fed, apart from each other") {
    context_trackers<target_id> m;
    CHECK(told(m, 0, 0).empty());
    m.meet(1, 0);
    m.fed(1, ids({1, 2, 3}));
    m.meet(0, 0);
    m.fed(0, ids({4}));
    m.meet(1, 3);
    m.truncated(1, 2);
    m.meet(1, 2);
    m.fed(1, ids({5}));
    CHECK(told(m, 1, 3) == ids({1, 2, 5}));
    CHECK(told(m, 0, 1) == ids({4}));
    CHECK(told(m, 7, 0).empty());
}

TEST_CASE("context mirrors: a kept path is held, and other nodes are not") {
    context_trackers<target_id> m;
    m.meet(0, 0);
    m.fed(0, ids({1}));
    m.meet(0, 1);
    m.grown(0, ids({2, 3}));
    m.meet(0, 1);
    m.grown(0, ids({4}));
    m.meet(0, 1);
    m.kept(0, std::vector<std::size_t>{0, 2});
    CHECK(told(m, 0, 3) == ids({1, 2, 4}));
    m.meet(0, 3);
    m.grown(0, ids({6}));
    m.meet(0, 3);
    m.kept(0, std::vector<std::size_t>{0});
    CHECK(told(m, 0, 4) == ids({1, 2, 4, 6}));
    m.meet(0, 4);
    m.grown(0, ids({5}));
    m.meet(0, 4);
    m.truncated(0, 2);
    m.meet(0, 2);
    m.kept(0, std::vector<std::size_t>{0}); // a node that somebody else made
    CHECK(told(m, 0, 3).empty());
}

TEST_CASE("context mirrors: what nobody saw is not told, before the sequence was empty") {
    context_trackers<target_id> m;
    m.meet(0, 0);
    m.fed(0, ids({1, 2, 3}));
    CHECK(told(m, 0, 4).empty()); // somebody fed it
    CHECK(told(m, 0, 3) == ids({1, 2, 3}));
    m.meet(0, 2); // somebody cut it and fed others, and now we
    m.fed(0, ids({9}));
    CHECK(told(m, 0, 3).empty());
    m.meet(0, 3);
    m.truncated(0, 2);
    CHECK(told(m, 0, 2).empty());
    m.meet(0, 2);
    m.truncated(0, 0);
    m.meet(0, 0);
    m.fed(0, ids({7}));
    CHECK(told(m, 0, 1) == ids({7}));
    m.meet(0, 0); // the engine dropped its context
    m.fed(0, ids({8}));
    CHECK(told(m, 0, 1) == ids({8}));
}

} // namespace context_trackers_tests
