// Names that mean something to CMake, to ctest, to Catch2 or to a shell: each runs under ctest.
#include <catch2/catch.hpp>

TEST_CASE("a [0, 1); b", "[law][computes]") {
    SUCCEED();
}

TEST_CASE("[opens") {
    SUCCEED();
}

TEST_CASE("]]==] closes]") {
    SUCCEED();
}

TEST_CASE("[ first, blank after it") {
    SUCCEED();
}

TEST_CASE("one; two;; three, four,") {
    SUCCEED();
}

TEST_CASE("\"quoted\", or \"half") {
    SUCCEED();
}

TEST_CASE("back\\slash\\\\, at the end\\") {
    SUCCEED();
}

TEST_CASE("*stars*") {
    SUCCEED();
}

TEST_CASE("~not") {
    SUCCEED();
}

TEST_CASE("exclude:nothing") {
    SUCCEED();
}

TEST_CASE("#hash, ${variable} $ENV{HOME} $(command) `command` @at@ 'single' %d &amp; <tag>") {
    SUCCEED();
}

TEST_CASE("#hash") {
    SUCCEED();
}

TEST_CASE("  blanks around  ") {
    SUCCEED();
}

TEST_CASE("-w") {
    SUCCEED();
}

TEST_CASE("größer als ≤ 1") {
    SUCCEED();
}

TEST_CASE(
    "a name longer than any line of a terminal, which ctest's lines must not break, and again "
    "a name longer than any line of a terminal, which ctest's lines must not break: one") {
    SUCCEED();
}

TEST_CASE(
    "a name longer than any line of a terminal, which ctest's lines must not break, and again "
    "a name longer than any line of a terminal, which ctest's lines must not break: two") {
    SUCCEED();
}
