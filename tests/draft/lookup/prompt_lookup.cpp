// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/prompt_lookup.hpp>

#include <string>

#include <catch2/catch.hpp>

using namespace specdec;

namespace prompt_lookup_tests {

std::string found(const prompt_lookup& lookup, std::size_t most = 20) {
    lookup_hit out;
    lookup.find(most, out);
    CHECK(out.chances.size() == out.bytes.size());
    return out.bytes;
}

TEST_CASE("prompt lookup: what followed the longest end, the last time") {
    prompt_lookup lookup(4096);
    CHECK(found(lookup).empty());
    lookup.follow("the red fox sleeps. a red fox jumps. one red fox eats. ");
    lookup.follow("then the red fox ");
    CHECK(found(lookup, 6) == "sleeps"); // longer than "e red fox " of "one red fox "
    lookup.start();
    lookup.follow("a red fox jumps. a red fox eats. a red fox ");
    CHECK(found(lookup, 5) == "eats."); // the last of equals
    lookup.start();
    CHECK(found(lookup).empty());
    lookup.follow("a red fox jumps. a");
    CHECK(found(lookup).empty()); // of another text nothing is left
}

TEST_CASE("prompt lookup: the same whatever the pieces, and however often it is asked") {
    prompt_lookup whole(4096), pieces(4096);
    const std::string text = "one two three four five, one two three four six, one two three ";
    whole.follow(text);
    for (const char byte : text) {
        pieces.follow({&byte, 1});
        (void)found(pieces);
    }
    CHECK(found(whole) == "four six, one two th");
    CHECK(found(pieces) == found(whole));
}

TEST_CASE("prompt lookup: a text that turns in a circle is followed round it") {
    prompt_lookup lookup(4096);
    lookup.follow("so: abcdabcdabcd");
    CHECK(found(lookup, 11) == "abcdabcdabc");
}

TEST_CASE("prompt lookup: nothing goes on across what is no text") {
    prompt_lookup lookup(4096);
    lookup.follow("tell me a story about a fox");
    lookup.follow({&no_text, 1});
    lookup.follow("once upon. tell me a story about");
    CHECK(found(lookup) == " a fox");
    lookup.follow(" a fox");
    CHECK(found(lookup).empty());
}

} // namespace prompt_lookup_tests
