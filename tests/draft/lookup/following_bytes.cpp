// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/following_bytes.hpp>

#include <string>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("following bytes: to the text's end, and round behind it") {
    byte_index index({.bytes = 1024});
    byte_index::writer w = index.begin();
    index.append(w, "xyabc");
    following_bytes next(1); // behind y
    std::string found;
    while (found.size() < 8) {
        REQUIRE(next.advance(index, w.last(), found));
        found += next.byte();
    }
    CHECK(found == "abcabcab");
    following_bytes itself(w.last()); // nothing is behind the end
    CHECK_FALSE(itself.advance(index, w.last(), ""));

    byte_index::writer other = index.begin();
    index.append(other, "pq");
    following_bytes elsewhere(1);
    for (const char byte : std::string("abc")) {
        REQUIRE(elsewhere.advance(index, other.last(), "found"));
        CHECK(elsewhere.byte() == byte);
    }
    CHECK_FALSE(elsewhere.advance(index, other.last(), "found"));
}
