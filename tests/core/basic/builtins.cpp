// SPDX-License-Identifier: MIT
#include <specdec/core/basic/builtins.hpp>

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

namespace builtins_tests {

using namespace specdec;

TEST_CASE("infinity and functions are those of the standard library") {
    CHECK(builtin::infinity == std::numeric_limits<float>::infinity());
    CHECK(static_cast<double>(builtin::infinity) == std::numeric_limits<double>::infinity());
    for (const double x : {0.001, 0.7, 1.0, 3.25, 90.0}) {
        const auto f = static_cast<float>(x);
        CHECK(builtin::exp(x) == std::exp(x));
        CHECK(builtin::expf(-f) == std::exp(-f));
        CHECK(builtin::exp2(-x) == std::exp2(-x));
        CHECK(builtin::expm1(x) == std::expm1(x));
        CHECK(builtin::fabs(-x) == x);
        CHECK(builtin::log(x) == std::log(x));
        CHECK(builtin::logf(f) == std::log(f));
        CHECK(builtin::log1p(x) == std::log1p(x));
        CHECK(builtin::pow(x, 0.3) == std::pow(x, 0.3));
        CHECK(builtin::sqrt(x) == std::sqrt(x));
    }
}

TEST_CASE("a product of two words has all its bits") {
    constexpr builtin::wide square = builtin::multiply(~0ULL, ~0ULL);
    STATIC_REQUIRE(square.high == ~0ULL - 1);
    STATIC_REQUIRE(square.low == 1);
    const builtin::wide w = builtin::multiply(0x123456789ABCDEF0, 0xFEDCBA9876543210);
    CHECK(w.high == 0x121FA00AD77D7422);
    CHECK(w.low == 0x236D88FE5618CF00);
    CHECK(builtin::multiply(0xFFFFFFFF, 0x100000001).low == ~0ULL);
    CHECK(builtin::multiply(1ULL << 63, 6).high == 3);
}

TEST_CASE("bytes in the other order") {
    STATIC_REQUIRE(builtin::byteswap(0x0102030405060708) == 0x0807060504030201);
    CHECK(builtin::byteswap(0xFF) == 0xFFULL << 56);
}

TEST_CASE("the plain branch compiles no kernels beyond the build's instruction set") {
#ifdef SPECDEC_PORTABLE_ONLY
    CHECK(SPECDEC_GNU_EXTENSIONS == 0);
    CHECK(SPECDEC_X86_KERNELS == 0);
    CHECK(builtin::of_this_cpu() == builtin::instructions::any);
#else
    CHECK(SPECDEC_GNU_EXTENSIONS == 1);
#endif
}

} // namespace builtins_tests
