// SPDX-License-Identifier: MIT
#include <specdec_engine/file/quantised.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec::engine;

namespace {

/// A block as the format's formula says it, written without the library.
struct block {
    std::vector<std::byte> bytes;
    std::vector<float> values;
};

void put_half(block& b, float value) {
    const auto bits = Eigen::numext::bit_cast<std::uint16_t>(static_cast<Eigen::half>(value));
    b.bytes.push_back(static_cast<std::byte>(bits & 0xFF));
    b.bytes.push_back(static_cast<std::byte>(bits >> 8));
}

block random_block(dtype type, std::minstd_rand& random) {
    block b;
    const float d = std::ldexp(static_cast<float>(random() % 1024), -12); // exact in half precision
    const float m = -std::ldexp(static_cast<float>(random() % 1024), -9);
    put_half(b, d);
    if (type == dtype::q4_1)
        put_half(b, m);
    std::vector<int> numbers(32);
    for (int& n : numbers)
        n = static_cast<int>(random() % (type == dtype::q8_0 ? 256 : 16));
    if (type == dtype::q8_0)
        for (int& n : numbers) {
            n -= 128;
            b.bytes.push_back(static_cast<std::byte>(static_cast<signed char>(n)));
        }
    else
        for (std::size_t i = 0; i < 16; ++i)
            b.bytes.push_back(static_cast<std::byte>(numbers[i] | (numbers[i + 16] << 4)));
    for (const int n : numbers)
        b.values.push_back(type == dtype::q4_0   ? d * static_cast<float>(n - 8)
                           : type == dtype::q4_1 ? d * static_cast<float>(n) + m
                                                 : d * static_cast<float>(n));
    return b;
}

} // namespace

TEST_CASE("quantised rows become the values of their formulas") {
    std::minstd_rand random(7);
    for (const dtype type : {dtype::q4_0, dtype::q4_1, dtype::q8_0}) {
        CAPTURE(name(type));
        std::vector<std::byte> bytes;
        std::vector<float> expected;
        for (int i = 0; i < 3 * 4; ++i) {
            const block b = random_block(type, random);
            REQUIRE(b.bytes.size() == block_bytes(type));
            bytes.insert(bytes.end(), b.bytes.begin(), b.bytes.end());
            expected.insert(expected.end(), b.values.begin(), b.values.end());
        }
        tensor t;
        t.type = type;
        t.shape = {3, 128};
        t.bytes = bytes;
        std::vector<float> row(128);
        for (std::size_t r = 0; r < 3; ++r) {
            read_row(t, r, row);
            for (std::size_t i = 0; i < 128; ++i)
                REQUIRE(row[i] == Approx(expected[128 * r + i]).margin(1e-6));
        }
    }
}

TEST_CASE("blocks of 5 bits and K-quants become the numbers of ggml's own Python code") {
    // A block of bytes by a formula, with factors 1/32 and -3/4; what gguf.dequantize (gguf 0.17)
    // makes of it, exactly: some values, the sum of all, and the sum of value times place.
    struct sample {
        std::size_t place;
        float value;
    };
    struct wanted {
        dtype type;
        std::vector<std::size_t> factors; ///< where they lie
        std::vector<sample> samples;
        double sum, weighted;
    };
    const wanted all[] = {
        {dtype::q5_0,
         {0},
         {{0, 0.28125F}, {1, 0.03125F}, {15, -0.25F}, {16, -0.34375F}, {17, 0.375F}, {31, 0.125F}},
         0.59375,
         35.28125},
        {dtype::q5_1,
         {0, 2},
         {{0, -0.53125F}, {1, -0.25F}, {15, 0.0625F}, {16, -0.15625F}, {17, -0.375F}, {31, 0.125F}},
         -7.75,
         -118.4375},
        {dtype::q2_k,
         {80, 82},
         {{0, 0.3125F}, {31, 1.3125F}, {32, 3.28125F}, {127, 9.0F}, {128, 2.46875F}, {255, 0.0F}},
         1342.8125,
         177426.59375},
        {dtype::q3_k,
         {108},
         {{0, 1.96875F}, {1, 0.0F}, {32, -1.03125F}, {127, 3.875F}, {128, -1.5F}, {255, 4.0F}},
         10.75,
         222.84375},
        {dtype::q4_k,
         {0, 2},
         {{0, 61.375F},
          {1, 44.125F},
          {32, 25.375F},
          {127, 37.59375F},
          {160, 54.28125F},
          {255, 44.75F}},
         8160.8125,
         1078853.25},
        {dtype::q5_k,
         {0, 2},
         {{0, 48.4375F},
          {1, 54.1875F},
          {32, 50.75F},
          {127, 38.125F},
          {160, 74.1875F},
          {255, 48.25F}},
         10481.53125,
         1393156.6875},
        {dtype::q6_k,
         {208},
         {{0, 3.28125F},
          {1, -3.59375F},
          {31, 99.78125F},
          {127, -28.4375F},
          {160, 53.8125F},
          {255, 41.25F}},
         117.59375,
         37918.65625}};
    for (const wanted& w : all) {
        CAPTURE(name(w.type));
        CHECK(dtype_named(name(w.type)) == w.type);
        std::vector<std::byte> bytes(block_bytes(w.type));
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::byte>(i * i * 7 + i * 13 + 5 * (i / 3) + 5);
        const std::uint16_t factors[] = {0x2800, 0xBA00};
        for (std::size_t i = 0; i < w.factors.size(); ++i)
            std::memcpy(&bytes[w.factors[i]], &factors[i], sizeof factors[i]);
        std::vector<float> row(2 * block_values(w.type));
        std::vector<std::byte> twice = bytes;
        twice.insert(twice.end(), bytes.begin(), bytes.end());
        read_row({"file", "w", w.type, "", {row.size()}, twice}, 0, row);
        const std::size_t n = row.size() / 2;
        CHECK(std::equal(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(n),
                         row.begin() + static_cast<std::ptrdiff_t>(n)));
        double sum = 0, weighted = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sum += double{row[i]};
            weighted += double{row[i]} * static_cast<double>(i);
        }
        for (const sample& s : w.samples)
            CHECK(row[s.place] == s.value);
        CHECK(sum == w.sum);
        CHECK(weighted == w.weighted);
    }
}

TEST_CASE("weights are refused that are not finite, also by their blocks' scales") {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const dtype type : {dtype::f16, dtype::q4_0, dtype::q4_1, dtype::q8_0})
        for (const bool is_nan : {false, true}) {
            CAPTURE(name(type), is_nan);
            std::vector<std::byte> bytes(2 * 64 / block_values(type) * block_bytes(type));
            const tensor t{"file", "w", type, "", {2, 64}, bytes};
            std::vector<float> row(64);
            CHECK_NOTHROW(read_weights(t, 0, row));
            const auto half = static_cast<std::uint16_t>(is_nan ? 0xFE00 : 0x7C00);
            std::byte* const last = &bytes[bytes.size() - block_bytes(type)];
            std::memcpy(last, &half, sizeof half); // of row 1: a value, or its block's scale
            CHECK_NOTHROW(read_weights(t, 0, row));
            CHECK_THROWS_WITH(read_weights(t, 1, row),
                              "file: tensor w: expected finite numbers, found another in row 1");
        }
    const float values[] = {std::numeric_limits<float>::max(), -largest_in_bf16, infinity};
    const tensor t{"file", "w", dtype::f32, "", {3, 1}, std::as_bytes(std::span(values))};
    std::vector<float> row(1);
    CHECK_NOTHROW(read_weights(t, 0, row));
    CHECK_THROWS_WITH(read_weights(t, 0, row, largest_in_bf16, "BF16"),
                      Catch::Contains("no larger than BF16 takes"));
    CHECK_NOTHROW(read_weights(t, 1, row, largest_in_bf16));
    CHECK_THROWS_AS(read_weights(t, 2, row), specdec::error);
    CHECK(std::isinf(widen(round_to_bf16(std::nextafter(largest_in_bf16, infinity)))));
    CHECK_FALSE(std::isinf(widen(round_to_bf16(largest_in_bf16))));
}

TEST_CASE("F32, F16 and BF16 rows are read exactly, from any address") {
    const std::vector<float> values = {1.0F, -2.5F, 0.0F, 384.0F};
    for (const dtype type : {dtype::f32, dtype::f16, dtype::bf16}) {
        std::vector<std::byte> bytes(1); // one byte off any alignment
        for (const float v : values) {
            std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
            if (type == dtype::f16)
                bits = Eigen::numext::bit_cast<std::uint16_t>(static_cast<Eigen::half>(v));
            if (type == dtype::bf16)
                bits >>= 16;
            for (std::size_t i = 0; i < block_bytes(type); ++i)
                bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
        }
        tensor t;
        t.type = type;
        t.shape = {2, 2};
        t.bytes = std::span(bytes).subspan(1);
        std::vector<float> row(2);
        read_row(t, 1, row);
        CHECK(row[0] == 0.0F);
        CHECK(row[1] == 384.0F);
        read_row(t, 0, row);
        CHECK(row[1] == -2.5F);
    }
}
