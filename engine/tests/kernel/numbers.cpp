// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/numbers.hpp>

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace specdec::engine;

TEST_CASE("rounding to BF16 agrees with Eigen::bfloat16 everywhere") {
    for (std::uint64_t i = 0; i <= 0xFFFFFFFFU; i += 9973) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(i));
        const bf16_bits rounded = round_to_bf16(value);
        if (std::isnan(value)) {
            REQUIRE(std::isnan(widen(rounded)));
            continue;
        }
        const auto eigen = static_cast<Eigen::bfloat16>(value);
        REQUIRE(rounded == Eigen::numext::bit_cast<std::uint16_t>(eigen));
    }
    STATIC_REQUIRE(widen(round_to_bf16(1.0F)) == 1.0F);
    CHECK(std::isinf(widen(round_to_bf16(std::numeric_limits<float>::max()))));
    CHECK(std::isnan(widen(round_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("every BF16 number survives widening and rounding") {
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
        const auto value = static_cast<bf16_bits>(bits);
        if (!std::isnan(widen(value)))
            REQUIRE(round_to_bf16(widen(value)) == value);
    }
}

TEST_CASE("half precision widens exactly") {
    CHECK(widen_half(0x3C00) == 1.0F);
    CHECK(widen_half(0xC000) == -2.0F);
    CHECK(widen_half(0x0001) == std::ldexp(1.0F, -24)); // the smallest denormal
    CHECK(std::isinf(widen_half(0x7C00)));
}

TEST_CASE("sizes of stored blocks") {
    CHECK(block_bytes(dtype::q4_0) == 18);
    CHECK(block_bytes(dtype::q4_1) == 20);
    CHECK(block_bytes(dtype::q8_0) == 34);
    CHECK(block_bytes(dtype::bf16) == 2);
    CHECK(block_bytes(dtype::q5_0) == 22);
    CHECK(block_bytes(dtype::q5_1) == 24);
    CHECK(block_bytes(dtype::q2_k) == 84);
    CHECK(block_bytes(dtype::q3_k) == 110);
    CHECK(block_bytes(dtype::q4_k) == 144);
    CHECK(block_bytes(dtype::q5_k) == 176);
    CHECK(block_bytes(dtype::q6_k) == 210);
    CHECK(block_bytes(dtype::other) == 0);
    CHECK(block_values(dtype::q8_0) == 32);
    CHECK(block_values(dtype::f16) == 1);
    CHECK(name(dtype::q4_1) == "Q4_1");
}
