// SPDX-License-Identifier: MIT
#include <specdec/core/basic/half.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("every half is the number that its bits say") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto value = static_cast<float>(float16{static_cast<std::uint16_t>(bits)});
        const double sign = (bits & 0x8000) != 0 ? -1 : 1;
        const int exponent = static_cast<int>(bits >> 10 & 0x1F);
        const double mantissa = static_cast<double>(bits & 0x3FF);
        REQUIRE(std::signbit(value) == (sign < 0));
        if (exponent == 0)
            REQUIRE(static_cast<double>(value) == sign * std::ldexp(mantissa, -24));
        else if (exponent < 31)
            REQUIRE(static_cast<double>(value) ==
                    sign * std::ldexp(1024 + mantissa, exponent - 25));
        else if (mantissa == 0)
            REQUIRE(std::isinf(value));
        else
            REQUIRE(std::isnan(value));
    }
}

TEST_CASE("a bfloat16 is the upper half of a float") {
    for (const float x : {0.0F, -0.0F, 1.0F, -2.5F, std::numeric_limits<float>::infinity()}) {
        const auto bits = std::bit_cast<std::uint32_t>(x);
        CHECK(static_cast<float>(bfloat16{static_cast<std::uint16_t>(bits >> 16)}) == x);
    }
}
