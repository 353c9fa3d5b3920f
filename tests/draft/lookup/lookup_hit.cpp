// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/lookup_hit.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("found text: what is expected of it is the sum of its beginnings' chances") {
    lookup_hit text;
    CHECK(text.expected() == 0);
    text.push('a', 0.5);
    text.push('b', 0.5);
    text.push('c', 1);
    CHECK(text.expected() == Approx(0.5 + 0.25 + 0.25));
    CHECK(text.bytes == "abc");
    text.clear();
    CHECK((text.bytes.empty() && text.chances.empty() && text.match == 0));
}

TEST_CASE("found text: a longer match is trusted more, none wholly") {
    double last = 0;
    for (const std::size_t n : {0U, 4U, 8U, 64U, 10000U}) {
        CHECK(repeat_chance(n) > last);
        CHECK(repeat_chance(n) < 1);
        last = repeat_chance(n);
    }
}

TEST_CASE("found text: it is cut, and a lookup may be missing") {
    lookup_hit text;
    text.push('a', 0.5);
    text.push('b', 0.5);
    text.cut(2);
    CHECK(text.bytes == "ab");
    text.cut(1);
    CHECK(text.bytes == "a");
    CHECK(text.chances.size() == 1);
    int calls = 0;
    std::optional<int> missing;
    with_lookup(missing, [&](int&) { ++calls; });
    CHECK(calls == 0);
    missing = 3;
    with_lookup(missing, [&](int& x) { calls += x; });
    with_lookup(*missing, [&](int& x) { calls += x; });
    CHECK(calls == 6);
}
