// SPDX-License-Identifier: MIT
#include <specdec/core/error.hpp>

#include <concepts>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

using namespace specdec;

static_assert(std::derived_from<error, std::runtime_error>);
static_assert(!std::convertible_to<std::string, error>);

TEST_CASE("an error names source, field and what was expected") {
    CHECK(std::string(error("config.json", "hidden_size", "a positive number").what()) ==
          "config.json: hidden_size: a positive number");
    CHECK(std::string(error("as it stands").what()) == "as it stands");
}

TEST_CASE("a message has no control bytes, and does not end at a NUL") {
    using namespace std::string_literals;
    CHECK(std::string(error("nul.gguf", "\0abc"s, "a\x1b[2J\r\n\t\x7f b"s).what()) ==
          "nul.gguf: \\x00abc: a\\x1b[2J\\x0d\\x0a\\x09\\x7f b");
    CHECK(std::string(error("Größe\0"s).what()) == "Größe\\x00");
}
