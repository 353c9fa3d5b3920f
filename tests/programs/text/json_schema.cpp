// SPDX-License-Identifier: MIT
#include "support/text/json_schema.hpp"

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

namespace json_schema_tests {

using namespace specdec;
using namespace specdec::examples;
using nlohmann::ordered_json;

constexpr json_limits limits{
    .deepest = 4, .most_members = 3, .longest = 8, .most_spaces = 1, .any_character = true};

json_grammar grammar_of(std::string_view schema) {
    return json_grammar(limits, read_json_schema(ordered_json::parse(schema), limits, "schema"));
}

/// "whole", "begins" (and may go on) or "refused".
std::string_view verdict(const json_grammar& g, std::string_view text) {
    auto state = g.begin();
    for (const char c : text)
        if (g.complete(state) || !g.step(state, c))
            return "refused";
    return g.complete(state) ? "whole" : "begins";
}
std::string_view verdict(std::string_view schema, std::string_view text) {
    return verdict(grammar_of(schema), text);
}

std::string refused_field(std::string_view schema) {
    try {
        (void)grammar_of(schema);
    } catch (const error& problem) {
        return std::string(problem.field());
    }
    return "none";
}

/// A text that the grammar allows, any byte at each place being as likely as the others.
std::string some_text(const json_grammar& g, unsigned seed) {
    std::mt19937 random(seed);
    std::string text;
    for (auto state = g.begin(); !g.complete(state);) {
        REQUIRE(text.size() < 5000);
        std::string may;
        for (unsigned byte = 0; byte < 256; ++byte)
            if (auto next = state; g.step(next, static_cast<char>(byte)))
                may += static_cast<char>(byte);
        REQUIRE(!may.empty()); // no text is stuck
        text += may[random() % may.size()];
        REQUIRE(g.step(state, text.back()));
    }
    return text;
}

TEST_CASE("objects have the properties of their schema, in its order", "[json_schema]") {
    constexpr std::string_view schema = R"({
        "type": "object", "additionalProperties": false, "required": ["name", "ok"],
        "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer"},
                       "nickname": {"type": ["string", "null"]}, "ok": {"type": "boolean"}}})";
    for (const char* whole :
         {R"({"name":"A","age":3,"nickname":null,"ok":true})", R"({"name":"A","ok":false})",
          R"({ "name" : "A" , "age":-12 ,"ok" : true })",
          R"({"name":"é\"","nickname":"","ok":true})"})
        CHECK(verdict(schema, whole) == "whole");
    for (const char* refused :
         {"[", "1", " ", R"({})", R"({"ok")", R"({"name":""})", R"({"name":1)", R"({"name":"A"})",
          R"({"name":"A","ok":true,)", R"({"name":"A","age":1.)", R"({"name":"A","age":1,"age")",
          R"({"name":"A","nickname":3)", R"({"name":"A","ok":true,"x")", R"({"name":"A","nick")",
          R"({"name":"123456789)", R"({"name":"A","ok":true} )", R"({"name":"A","ok":null)"})
        CHECK(verdict(schema, refused) == "refused");
}

TEST_CASE("enumerations and alternatives are told apart by their bytes", "[json_schema]") {
    constexpr std::string_view schema = R"({"properties": {
        "a": {"enum": ["New", "New York", "1", 1, 12, null]}, "b": {"const": "x y"},
        "c": {"anyOf": [{"type": "number"}, {"enum": ["no"]}, {"items": {"type": "null"}}]}}})";
    for (const char* whole :
         {"{}", R"({"a":"New"})", R"({"a":"New York"})", R"({"a":1})", R"({"a":12 })",
          R"({"a":null})", R"({"a":1 ,"b":"x y"})", R"({"c":1.5})", R"({"c":"no"})",
          R"({"c":[null,null]})", R"({"c":[]})"})
        CHECK(verdict(schema, whole) == "whole");
    for (const char* refused :
         {R"({"a":"New Yo")", R"({"a":13)", R"({"a":"2)", R"({"a":2)", R"({"a":n})", R"({"b":"xy)",
          R"({"c":"nope)", R"({"c":[1)", R"({"c":t)", R"({"b":"x y","a")"})
        CHECK(verdict(schema, refused) == "refused");
}

TEST_CASE("sizes are counted in characters and members", "[json_schema]") {
    constexpr std::string_view schema = R"({"properties": {
        "s": {"type": "string", "minLength": 2, "maxLength": 3},
        "l": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2}}})";
    for (const char* whole :
         {R"({"s":"éé"})", R"({"s":"\\\"c"})", R"({"l":[true]})", R"({"l":[true,false]})"})
        CHECK(verdict(schema, whole) == "whole");
    for (const char* refused :
         {R"({"s":"é")", R"({"s":"abcd)", R"({"l":[])", R"({"l":[true,true,)"})
        CHECK(verdict(schema, refused) == "refused");
}

TEST_CASE("a schema that contains itself ends within the levels", "[json_schema]") {
    constexpr std::string_view tree = R"({"$ref": "#/$defs/node", "$defs": {"node": {
        "type": "object", "required": ["v"], "properties": {
            "v": {"type": "integer"},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            "all": {"type": "array", "items": {"$ref": "#"}}}}}})";
    CHECK(verdict(tree, R"({"v":1,"next":{"v":2,"next":{"v":3,"next":{"v":4,"next":null}}}})") ==
          "whole");
    CHECK(verdict(tree, R"({"v":1,"next":{"v":2,"next":{"v":3,"next":{"v":4,"next":{)") ==
          "refused");
    CHECK(verdict(tree, R"({"v":1,"all":[{"v":2,"all":[]}]})") == "whole");
    CHECK(verdict(tree, R"({"v":1,"all":[{"v":2,"all":[{)") == "refused");
    const json_grammar g = grammar_of(tree);
    for (unsigned seed = 0; seed < 200; ++seed) {
        const ordered_json text = ordered_json::parse(some_text(g, seed));
        CHECK((text.contains("v") && text["v"].is_number_integer()));
    }
    // Required within itself, it has no end.
    CHECK(refused_field(R"({"required": ["a"], "properties": {"a": {"$ref": "#"}}})") == "schema");
    CHECK(refused_field(R"({"$ref": "#"})") == "schema.$ref");
}

TEST_CASE("objects of any names", "[json_schema]") {
    CHECK(verdict(R"({"type": "object"})", R"({"a":[{"b":1}],"c":null})") == "whole");
    CHECK(verdict(R"({"type": "object"})", "{}") == "whole");
    CHECK(verdict(R"({"type": "object", "additionalProperties": false})", R"({")") == "refused");
    constexpr std::string_view counts =
        R"({"type": "object", "additionalProperties": {"type": "integer"}})";
    CHECK(verdict(counts, R"({"a":1,"b":2,"c":3})") == "whole");
    CHECK(verdict(counts, R"({"a":1,"b":2,"c":3,)") == "refused"); // the limits
    CHECK(verdict(counts, R"({"a":")") == "refused");
    const json_grammar any{limits};
    CHECK(verdict(any, "{}") == "refused"); // it is to say something
    CHECK(verdict(any, R"({"a":{}})") == "whole");
    for (unsigned seed = 0; seed < 200; ++seed)
        CHECK(ordered_json::parse(some_text(any, seed)).is_object());
}

TEST_CASE("what a grammar does not follow is refused by name", "[json_schema]") {
    const std::string_view cases[][2] = {
        {R"({"type": "array"})", "schema.type"},
        {R"({"type": ["object", "null"]})", "schema.type"},
        {"true", "schema.type"},
        {"3", "schema"},
        {R"({"type": "text"})", "schema.type"},
        {R"({"type": []})", "schema.type"},
        {R"({"type": "object", "minProperties": 1})", "schema.minProperties"},
        {R"({"properties": {"a": {"type": "string", "pattern": "x"}}})", "schema.a.pattern"},
        {R"({"properties": {"a": {"type": "number", "minimum": 3}}})", "schema.a.minimum"},
        {R"({"properties": {"a": {"allOf": []}}})", "schema.a.allOf"},
        {R"({"properties": {"a": false}})", "schema.a"},
        {R"({"properties": []})", "schema.properties"},
        {R"({"properties": {}, "required": ["a"]})", "schema.required"},
        {R"({"properties": {"a": {"enum": []}}})", "schema.a.enum"},
        {R"({"properties": {"a": {"enum": [[1]]}}})", "schema.a.enum"},
        {R"({"properties": {"a": {"enum": ["x"], "type": "integer"}}})", "schema.a.enum"},
        {R"({"properties": {"a": {"anyOf": [{"type": "string"}, {"const": "x"}]}}})",
         "schema.a.anyOf[1]"},
        {R"({"properties": {"a": {"type": ["number", "integer"]}}})", "schema.a.type"},
        {R"({"properties": {"a": {"$ref": "#/$defs/none"}}})", "schema.a.$ref"},
        {R"({"properties": {"a": {"$ref": "http://x/"}}})", "schema.a.$ref"},
        {R"({"properties": {"a": {"type": "string", "minLength": 9}}})", "schema.a.minLength"},
        {R"({"properties": {"a": {"type": "array", "minItems": 2, "maxItems": 1}}})",
         "schema.a.minItems"},
        {R"({"properties": {"a": {"type": "string", "maxLength": -1}}})", "schema.a.maxLength"}};
    for (const auto& [schema, field] : cases) {
        CAPTURE(schema);
        CHECK(refused_field(schema) == field);
    }
    CHECK(refused_field(R"({"title": "T", "description": "d", "properties": {"a": {"type": "null",
                            "default": null}}, "$schema": "s"})") == "none");
}

} // namespace json_schema_tests
