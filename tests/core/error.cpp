// SPDX-License-Identifier: MIT
#include <specdec/core/error.hpp>

#include <concepts>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

using namespace specdec;

static_assert(std::derived_from<error, std::runtime_error>);
static_assert(!std::convertible_to<std::string, error>);

TEST_CASE("an error names source, field and what was expected") {
    CHECK(std::string(error("config.json", "hidden_size", "a positive number").what()) ==
          "config.json: hidden_size: a positive number");
    CHECK(std::string(error("as it stands").what()) == "as it stands");
}

TEST_CASE("the parts of an error can be read one by one") {
    const error whole("config.json", "hidden_size", "a positive number: 3");
    CHECK(whole.source() == "config.json");
    CHECK(whole.field() == "hidden_size");
    CHECK(whole.expected() == "a positive number: 3");
    const error odd("nul\n.gguf", "a\tb", "c\x7f");
    CHECK(odd.source() == "nul\\x0a.gguf");
    CHECK(odd.field() == "a\\x09b");
    CHECK(odd.expected() == "c\\x7f");
    const error one("all: of it: is one");
    CHECK(one.source().empty());
    CHECK(one.field().empty());
    CHECK(one.expected() == "all: of it: is one");

    const error copy = whole.at("line 3"); // NOLINT(performance-unnecessary-copy-initialization)
    CHECK(std::string(copy.what()) == "line 3: config.json: hidden_size: a positive number: 3");
    CHECK(copy.source() == "line 3: config.json");
    CHECK(copy.field() == "hidden_size");
    CHECK(std::string(odd.at("x").what()) == std::string("x: ") + odd.what()); // not twice
    CHECK(std::string(one.at("x").what()) == "x: all: of it: is one");
    static_assert(std::is_nothrow_copy_constructible_v<error>);
}

TEST_CASE("a message has no control bytes, and does not end at a NUL") {
    using namespace std::string_literals;
    CHECK(std::string(error("nul.gguf", "\0abc"s, "a\x1b[2J\r\n\t\x7f b"s).what()) ==
          "nul.gguf: \\x00abc: a\\x1b[2J\\x0d\\x0a\\x09\\x7f b");
    CHECK(std::string(error("Größe\0"s).what()) == "Größe\\x00");
}
