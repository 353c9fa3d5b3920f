// SPDX-License-Identifier: MIT
#include <specdec/vocab/table/vocabulary.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace specdec;

TEST_CASE("vocabulary: a control token's entry is its name, its text is empty") {
    vocabulary v;
    v.add("<s>", token_kind::control);
    v.add("a", token_kind::normal);
    v.add("", token_kind::unused);
    v.add("\x80", token_kind::byte);
    v.add("<think>", token_kind::user);
    REQUIRE(v.size() == 5);
    CHECK(v.entry(0) == "<s>");
    CHECK(v.text(0).empty());
    CHECK_FALSE(v.is_text(0));
    CHECK(v.text(1) == "a");
    CHECK_FALSE(v.is_text(2));
    CHECK(v.text(3) == "\x80");
    CHECK(v.text(4) == "<think>");
}

TEST_CASE("vocabulary: fingerprints tell entries, their borders and kinds apart") {
    using entries = std::vector<std::pair<std::string, token_kind>>;
    const auto fingerprint = [](const entries& list) {
        vocabulary v;
        for (const auto& [entry, kind] : list)
            v.add(entry, kind);
        return v.fingerprint();
    };
    constexpr auto normal = token_kind::normal;
    const std::string zero(1, '\0');
    const std::vector<entries> different{
        {},
        {{"", normal}},
        {{"ab", normal}},
        {{"a", normal}, {"b", normal}},
        {{"b", normal}, {"a", normal}},
        {{"ab", normal}, {"", normal}},
        {{"", normal}, {"ab", normal}},
        {{"ab", token_kind::user}},
        {{"ab" + zero, normal}},
        {{"abcdefgh", normal}},
        {{"abcdefgh", normal}, {zero, normal}},
        {{"abcdefghi", normal}},
    };
    std::set<std::uint64_t> seen;
    for (const entries& list : different) {
        seen.insert(fingerprint(list));
        CHECK(fingerprint(list) == fingerprint(list));
    }
    CHECK(seen.size() == different.size());
    // A value that saved files may hold: it must not change unnoticed.
    CHECK(fingerprint({{"hello", normal}, {"<s>", token_kind::control}, {"A", token_kind::byte}}) ==
          0x1606829a9aef5022u);
}

} // namespace
