// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/tiles.hpp>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec_engine/kernel/isa.hpp>

using namespace specdec::engine;

namespace tiles_tests {

/// C += A B of one pair of k, in every element.
float dot_of_pairs(float c, bf16_bits a0, bf16_bits a1, bf16_bits b0, bf16_bits b1) {
    portable_tiles unit;
    const tile_shape one{1, 4};
    unit.configure({one, one, one});
    const bf16_bits a[2] = {a0, a1}, b[2] = {b0, b1};
    unit.load<0>(&c, 4);
    unit.load<1>(a, 4);
    unit.load<2>(b, 4);
    unit.dot_bf16<0, 1, 2>();
    unit.store<0>(&c, 4);
    return c;
}

/// What a unit makes of tiles of these bytes.
template <class Unit>
std::vector<std::uint32_t>
results(std::size_t positions, std::size_t pairs, const std::vector<std::uint32_t>& a,
        const std::vector<std::uint32_t>& b, const std::vector<std::uint32_t>& c) {
    Unit unit;
    const tile_shape sums{static_cast<std::uint8_t>(positions), 64};
    unit.configure({sums, tile_shape{sums.rows, static_cast<std::uint16_t>(4 * pairs)},
                    tile_shape{static_cast<std::uint8_t>(pairs), 64}});
    unit.template load<0>(c.data(), 64);
    unit.template load<1>(a.data(), 64);
    unit.template load<2>(b.data(), 64);
    unit.template dot_bf16<0, 1, 2>();
    std::vector<std::uint32_t> out(16 * 16);
    unit.template store<0>(out.data(), 64);
    return out;
}

TEST_CASE("tiles: a dot product of pairs is added in the order of the documentation") {
    const bf16_bits one = round_to_bf16(1.0F), small = round_to_bf16(0x1p-24F);
    CHECK(dot_of_pairs(0.0F, one, one, round_to_bf16(2.0F), round_to_bf16(3.0F)) == 5.0F);
    // Both products first: 2^-24 twice is seen beside 1, which one of them is not.
    CHECK(dot_of_pairs(1.0F, one, one, small, small) == 1.0F + 0x1p-23F);
    CHECK(dot_of_pairs(1.0F, one, 0, small, 0) == 1.0F);
}

TEST_CASE("tiles: the first values of pairs and the second are summed apart") {
    portable_tiles unit;
    unit.configure({tile_shape{1, 4}, {1, 16}, {4, 4}});
    // 1, then 2^-24 three times: alone each is lost beside 1; those of the other sum are not.
    bf16_bits a[8], b[8];
    for (bf16_bits& x : a)
        x = round_to_bf16(1.0F);
    for (bf16_bits& x : b)
        x = round_to_bf16(0x1p-24F);
    b[0] = round_to_bf16(1.0F);
    float c = 0.0F;
    unit.load<0>(&c, 4);
    unit.load<1>(a, 16);
    unit.load<2>(b, 4);
    unit.dot_bf16<0, 1, 2>();
    unit.store<0>(&c, 4);
    CHECK(c == 1.0F + 0x1p-22F); // 4 2^-24 of the second ones; the first ones' three are lost
}

TEST_CASE("tiles: subnormal numbers are zero before and behind") {
    const bf16_bits one = round_to_bf16(1.0F), subnormal = 1;
    CHECK(dot_of_pairs(0.0F, subnormal, 0, round_to_bf16(0x1p100F), 0) == 0.0F);
    CHECK(dot_of_pairs(0x1p-140F, 0, 0, 0, 0) == 0.0F);
    const bf16_bits tiny = round_to_bf16(0x1p-70F);
    CHECK(dot_of_pairs(0.0F, tiny, 0, tiny, 0) == 0.0F); // 2^-140
    CHECK(dot_of_pairs(0.0F, tiny, 0, round_to_bf16(0x1p-50F), 0) == 0x1p-120F);
    CHECK(std::isnan(dot_of_pairs(0.0F, round_to_bf16(std::nanf("")), 0, one, 0)));
}

#if defined(__x86_64__)
TEST_CASE(
    "tiles: the processor's are the model, bit for bit") { // says nothing where there are none
    if (usable(isa::amx) != isa::amx)
        return;
    std::minstd_rand bits(7);
    const auto number = [&]() -> bf16_bits { // of every magnitude, subnormal ones and zeros among
        const auto any = static_cast<bf16_bits>(bits() >> 8);
        const bf16_bits near = round_to_bf16((static_cast<float>(bits() % 2001) - 1000.0F) * 1e-3F);
        const bool finite = (any & 0x7F80U) != 0x7F80U;
        return bits() / 7 % 3 == 0 && finite ? any : near;
    };
    const auto pair = [&] {
        const std::uint32_t low = number();
        return low | std::uint32_t{number()} << 16;
    };
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::uint32_t> a(256), b(256), c(256);
        for (auto* const x : {&a, &b})
            for (std::uint32_t& v : *x)
                v = pair();
        for (std::uint32_t& v : c)
            v = std::uint32_t{number()} << 16 | static_cast<std::uint32_t>(bits() & 0xFFFF);
        for (const std::size_t positions : {1U, 5U, 16U})
            for (const std::size_t pairs : {2U, 16U}) {
                CAPTURE(round, positions, pairs);
                const auto found = results<hardware_tiles>(positions, pairs, a, b, c);
                const auto model = results<portable_tiles>(positions, pairs, a, b, c);
                for (std::size_t i = 0; i < found.size(); ++i)
                    if (!std::isnan(std::bit_cast<float>(model[i])))
                        REQUIRE(found[i] == model[i]);
                    else
                        REQUIRE(std::isnan(std::bit_cast<float>(found[i])));
            }
    }
}
#endif

} // namespace tiles_tests
