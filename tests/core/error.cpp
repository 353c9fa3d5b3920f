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
