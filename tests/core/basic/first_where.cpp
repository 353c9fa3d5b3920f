// SPDX-License-Identifier: MIT
#include <specdec/core/basic/first_where.hpp>

#include <cstddef>
#include <cstdint>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("the first number from which on it holds, wherever that is") {
    for (std::size_t first = 0; first < 5; ++first)
        for (std::size_t last = first; last < 40; ++last)
            for (std::size_t from = first; from <= last; ++from)
                REQUIRE(first_where(first, last, [&](std::size_t n) {
                            REQUIRE((first <= n && n < last)); // asks for no other
                            return n >= from;
                        }) == from);
}

TEST_CASE("it is found in a logarithmic number of looks, up to the greatest numbers") {
    constexpr std::uint32_t most = ~std::uint32_t{0};
    for (const std::uint32_t from : {0U, 1U, most / 2, most - 1, most}) {
        int looks = 0;
        CHECK(first_where(0U, most, [&](std::uint32_t n) {
                  ++looks;
                  return n >= from;
              }) == from);
        CHECK(looks <= 32);
    }
}
