// SPDX-License-Identifier: MIT
#include <specdec/sampling/coin/philox.hpp>

#include <random>

#include <catch2/catch.hpp>

#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#if R123_USE_PHILOX_64BIT // not where it has no product of 128 bits
#define SPECDEC_HAS_RANDOM123
#endif
#endif

using namespace specdec;

TEST_CASE("philox known answers") {
    // kat_vectors of Random123: counter, key, words.
    using block = philox4x64::counter_type;
    CHECK(philox4x64::block({0, 0}, {0, 0, 0, 0}) ==
          block{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b});
    const std::uint64_t ones = ~std::uint64_t{0};
    CHECK(philox4x64::block({ones, ones}, {ones, ones, ones, ones}) ==
          block{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0});
    CHECK(philox4x64::block(
              {0x452821e638d01377, 0xbe5466cf34e90c6c},
              {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89}) ==
          block{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6});
}

#ifdef SPECDEC_HAS_RANDOM123
TEST_CASE("philox equals Random123") {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 1000; ++trial) {
        const philox4x64::key_type key{random(), random()};
        const philox4x64::counter_type counter{random(), random(), random(), random()};
        const r123::Philox4x64 theirs;
        r123::Philox4x64::ctr_type c{};
        r123::Philox4x64::key_type k{};
        for (std::size_t i = 0; i < 4; ++i)
            c[i] = counter[i];
        for (std::size_t i = 0; i < 2; ++i)
            k[i] = key[i];
        const auto expected = theirs(c, k);
        const auto actual = philox4x64::block(key, counter);
        for (std::size_t i = 0; i < 4; ++i)
            REQUIRE(actual[i] == expected[i]);
    }
}
#endif
