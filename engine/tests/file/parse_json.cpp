// SPDX-License-Identifier: MIT
#include <specdec_engine/file/parse_json.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace parse_json_tests {

using namespace specdec::engine;
using Catch::Contains;
using nlohmann::json;
using nlohmann::ordered_json;

std::string nested(std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
}

TEMPLATE_TEST_CASE("a document is what nlohmann's parser makes of it", "", json, ordered_json) {
    for (const char* text : {"null", "true", "-3", "18446744073709551615", "-1.5e-7",
                             R"("a\u00e9\n")", "[]", "{}", R"([1, [2, {"a": [{}, null]}], "x"])",
                             R"({"b": {"c": 1}, "a": [false, {"d": []}], "": 0})",
                             R"({"a": {"b": 1}, "c": 2, "a": [3]})"}) {
        const auto found = parse_json<TestType>(text, "f", "file");
        CHECK(found == TestType::parse(text));
        CHECK(found.dump() == TestType::parse(text).dump());
    }
    for (const char* text : {"", " ", "[", "]", "{\"a\"", "{\"a\": }", "[1 2]", "[1]x", "1e999",
                             "nul", "\"\xff\"", "\"\x01\""})
        CHECK_THROWS_WITH(parse_json<TestType>(text, "f", "file"),
                          Contains("f: file: expected JSON: "));
}

TEST_CASE("a document has at most 64 levels") {
    CHECK_NOTHROW(parse_json(nested(64), "f", "file"));
    CHECK_NOTHROW(parse_json("{\"a\": " + nested(63) + "}", "f", "file"));
    for (const std::string& text :
         {nested(65), "{\"a\": " + nested(64) + "}", std::string(400000, '[')})
        CHECK_THROWS_WITH(parse_json(text, "f", "file"),
                          "f: file: expected at most 64 levels of JSON");
}

TEST_CASE("names of the outermost object are told as often as they stand") {
    std::vector<std::string> names;
    (void)parse_json(R"({"b": {"c": 1}, "a": [{"d": 2}], "b": 3})", "f", "file", &names);
    CHECK(names == std::vector<std::string>{"b", "a", "b"});
}

// In quadratic time neither ends before whoever runs it has lost patience.
TEMPLATE_TEST_CASE("many small objects are read in linear time", "", json, ordered_json) {
    constexpr std::size_t n = 400'000;
    std::string text = R"({"a": [)";
    for (std::size_t i = 0; i < n; ++i)
        text += R"({"b": [1, {}]}, )";
    CHECK(parse_json<TestType>(text + "0]}", "f", "file")["a"].size() == n + 1);
}

TEST_CASE("an object that is searched from its beginning has at most 1,000 fields") {
    const auto object = [](std::size_t fields) {
        std::string text;
        for (std::size_t i = 0; i < fields; ++i)
            text += (i == 0 ? "{\"" : ", \"") + std::to_string(i) + "\": 0";
        return text + "}";
    };
    CHECK(parse_json<ordered_json>(object(1000), "f", "line 1").size() == 1000);
    CHECK_THROWS_WITH(parse_json<ordered_json>(object(1001), "f", "line 1"),
                      "f: line 1: expected at most 1000 fields in an object");
    CHECK(parse_json(object(400'000), "f", "file").size() == 400'000);
}

} // namespace parse_json_tests
