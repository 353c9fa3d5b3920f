// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/best_lookup.hpp>

#include <string>

#include <catch2/catch.hpp>

using namespace specdec;

namespace best_lookup_tests {

/// Says the same whatever was said, as sure as it is told to be.
struct fixed_lookup {
    std::string says;
    double sure;
    std::string* heard;

    void start() { heard->clear(); }
    void follow(std::string_view bytes) { *heard += bytes; }
    void find(std::size_t most, lookup_hit& out) const {
        out.clear();
        for (const char byte : says.substr(0, most))
            out.push(byte, sure);
    }
};

TEST_CASE("best lookup: the one that expects the most bytes speaks, the first of equals") {
    std::string one, two, three;
    const auto found = [](auto lookup, std::size_t most = 9) {
        lookup_hit out;
        lookup.find(most, out);
        return out.bytes;
    };
    const fixed_lookup shy{"abcdefgh", 0.1, &one}, sure{"xyz", 0.9, &two}, mute{"", 1, &three};
    CHECK(found(best_lookup(9, shy, sure, mute)) == "xyz");
    CHECK(found(best_lookup(9, sure, shy)) == "xyz");
    CHECK(found(best_lookup(9, sure, fixed_lookup{"XYZ", 0.9, &one})) == "xyz");
    CHECK(found(best_lookup(9, fixed_lookup{"XYZ", 0.9, &one}, sure)) == "XYZ");
    CHECK(found(best_lookup(9, mute)).empty());
    CHECK(found(best_lookup(9, shy), 2) == "ab");
    CHECK(found(best_lookup(9, std::optional<fixed_lookup>(), std::optional(shy))) == "abcdefgh");
}

TEST_CASE("best lookup: all of them follow the text") {
    std::string one, two;
    best_lookup both(9, fixed_lookup{"a", 1, &one}, std::optional(fixed_lookup{"b", 1, &two}));
    one = "before";
    both.start();
    both.follow("some ");
    both.follow("text");
    CHECK(one == "some text");
    CHECK(two == "some text");
}

} // namespace best_lookup_tests
