// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/row_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sampling/random_rows.hpp"

using namespace specdec;
using row_kernels::exponent;

namespace {

/// Every table this CPU can run.
std::vector<std::pair<std::string, row_kernels::table>> tables() {
    std::vector<std::pair<std::string, row_kernels::table>> all{
        {"portable", row_kernels::portable::functions}};
#if SPECDEC_X86_KERNELS
    const auto widest = builtin::of_this_cpu();
    if (widest >= builtin::instructions::avx2_fma)
        all.emplace_back("avx2", row_kernels::avx2::functions);
    if (widest >= builtin::instructions::avx512)
        all.emplace_back("avx512", row_kernels::avx512::functions);
#endif
    return all;
}

double oracle(float logit, exponent e) {
    if (logit < e.lowest)
        return 0;
    return std::exp2((static_cast<double>(logit) - static_cast<double>(e.reference)) *
                     static_cast<double>(e.scale));
}

} // namespace

TEST_CASE("weights are powers of two, to a few units of the last place", "[computes]") {
    for (const auto& [name, kernel] : tables())
        for (const float scale : {1.4426950F, 0.1F, 14.0F, 1e6F})
            for (const float reference : {0.0F, 8.5F, -3e4F, 1e30F}) {
                INFO(name << " scale " << scale << " reference " << reference);
                const exponent e = row_kernels::make_exponent(reference, scale);
                std::vector<float> row;
                for (float x = -130; x < 124; x += 0.01F)
                    row.push_back(reference + x / scale);
                std::vector<float> weights(row.size());
                kernel.weigh(row.data(), weights.data(), row.size(), e);
                double worst = 0;
                for (std::size_t i = 0; i < row.size(); ++i) {
                    const double exact = oracle(row[i], e);
                    const double x = std::abs(std::log2(exact > 0 ? exact : 1.0));
                    if (x > 125) // a reference so large that a step of it leaves the range
                        continue;
                    REQUIRE((weights[i] > 0) == (exact > 0));
                    if (exact > 0) // rounding of the argument, and of the rest
                        worst =
                            std::max(worst, std::abs(static_cast<double>(weights[i]) / exact - 1) /
                                                (2.5e-7 + x * 1e-7));
                }
                CHECK(worst < 1);
            }
}

TEST_CASE("weight 1 at the reference, 0 below the lowest, NaN for NaN") {
    for (const auto& [name, kernel] : tables()) {
        INFO(name);
        const exponent e{2, 1.4426950F, -3};
        const std::vector<float> row{2, -3, -3.001F, minus_infinity, std::nanf(""), -3e38F};
        std::vector<float> weights(row.size());
        kernel.weigh(row.data(), weights.data(), row.size(), e);
        CHECK(weights[0] == 1);
        CHECK(weights[1] == Approx(std::exp(-5.0)));
        CHECK(weights[2] == 0);
        CHECK(weights[3] == 0);
        CHECK(std::isnan(weights[4]));
        CHECK(weights[5] == 0);
    }
}

TEST_CASE("a weight from above is no less than the weight, and at most a sixteenth more",
          "[computes]") {
    for (const auto& [name, kernel] : tables())
        for (const float scale : {1.4426950F, 0.1F, 14.0F}) {
            INFO(name << " scale " << scale);
            const exponent e = row_kernels::make_exponent(8.5F, scale);
            std::vector<float> row{minus_infinity, e.lowest, 8.5F};
            for (float x = -126; x < 124; x += 0.003F)
                row.push_back(8.5F + x / scale);
            std::vector<float> weights(row.size()), above(row.size());
            kernel.weigh(row.data(), weights.data(), row.size(), e);
            kernel.weigh_above(row.data(), above.data(), row.size(), e);
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < row.size(); ++i)
                wrong += above[i] >= weights[i] && above[i] <= 1.0625F * weights[i] ? 0U : 1U;
            CHECK(wrong == 0);
        }
}

TEST_CASE("a weight has the same bits wherever its logit stands, and sums are sums of weights") {
    for (const auto& [name, kernel] : tables())
        for (const std::size_t size : sizes) {
            INFO(name << " size " << size);
            std::vector<float> row = random_row(size, static_cast<unsigned>(size));
            if (size > 2)
                row[size / 2] = minus_infinity;
            const exponent e = row_kernels::make_exponent(row[0] + 4, 1.4426950F);
            std::vector<float> weights(size);
            kernel.weigh(row.data(), weights.data(), size, e);
            double total = 0;
            for (std::size_t i = 0; i < size; ++i) {
                float alone = -1;
                kernel.weigh(&row[i], &alone, 1, e);
                REQUIRE(alone == weights[i]);
                total += static_cast<double>(weights[i]);
            }
            float maximum = 0;
            CHECK(kernel.sum(row.data(), size, e, maximum) == Approx(total).epsilon(1e-14));
            CHECK(maximum == *std::max_element(row.begin(), row.end()));
        }
}

TEST_CASE("sums of large and tiny weights are exact in double") {
    for (const auto& [name, kernel] : tables()) {
        INFO(name);
        const std::vector<float> row{100, -120, 0, minus_infinity, 99.5F};
        const exponent e = row_kernels::make_exponent(0, 1);
        float maximum = 0;
        double total = 0;
        std::vector<float> weights(row.size());
        kernel.weigh(row.data(), weights.data(), row.size(), e);
        for (const float w : weights)
            total += static_cast<double>(w);
        CHECK(kernel.sum(row.data(), row.size(), e, maximum) == Approx(total).epsilon(1e-15));
        CHECK(kernel.sum(&row[1], 1, e, maximum) == std::ldexp(1.0, -120));
    }
}

TEST_CASE("NaN and infinity among the logits show in the sum") {
    for (const auto& [name, kernel] : tables())
        for (const float bad : {std::nanf(""), -std::nanf(""), -minus_infinity}) {
            std::vector<float> row = random_row(100, 1);
            row[57] = bad;
            float maximum = 0;
            INFO(name);
            CHECK_FALSE(kernel.sum(row.data(), row.size(), row_kernels::make_exponent(0, 1),
                                   maximum) < 0x1p126);
        }
}

TEST_CASE("the maximum of any size and place") {
    for (const auto& [name, kernel] : tables()) {
        INFO(name);
        CHECK(kernel.maximum(nullptr, 0) == minus_infinity);
        for (const std::size_t size : sizes) {
            std::vector<float> row(size, -1e30F);
            for (std::size_t i = 0; i<size; i += size> 300 ? 37 : 1) {
                row[i] = -5;
                REQUIRE(kernel.maximum(row.data(), size) == -5);
                row[i] = -1e30F;
            }
            row[size / 2] = std::nanf("");
            if (size > 1)
                REQUIRE(kernel.maximum(row.data(), size) == -1e30F);
        }
    }
}

TEST_CASE("the maximum of each block, and whether a row has NaN") {
    for (const auto& [name, kernel] : tables())
        for (const std::size_t size : sizes) {
            INFO(name << " size " << size);
            const std::vector<float> plain = random_row(size, static_cast<unsigned>(size));
            const std::size_t block = size > 40 ? size / 7 + 1 : 16;
            std::vector<float> maxima((size + block - 1) / block);
            const auto numbers = [&](const std::vector<float>& row) {
                return kernel.block_maxima(row.data(), size, block, maxima.data());
            };
            REQUIRE(numbers(plain));
            for (std::size_t b = 0; b < maxima.size(); ++b)
                REQUIRE(maxima[b] ==
                        *std::max_element(plain.data() + b * block,
                                          plain.data() + std::min(size, (b + 1) * block)));
            for (std::size_t i = 0; i<size; i += size> 300 ? 37 : 1)
                for (const float bad : {std::nanf(""), -std::nanf("")}) {
                    std::vector<float> row = plain;
                    row[i] = bad;
                    REQUIRE_FALSE(numbers(row));
                    row[size - 1 - i / 2] = -minus_infinity;
                    row[i / 2] = minus_infinity;
                    row[i] = bad;
                    REQUIRE_FALSE(numbers(row));
                }
        }
}

TEST_CASE("infinities, and numbers whose sum is none, are not NaN") {
    for (const auto& [name, kernel] : tables()) {
        INFO(name);
        std::vector<float> row(200, minus_infinity), maxima(2);
        const auto numbers = [&] { return kernel.block_maxima(row.data(), 200, 128, &maxima[0]); };
        CHECK(numbers());
        CHECK(maxima[1] == minus_infinity);
        row[70] = -minus_infinity;
        CHECK(numbers());
        CHECK(maxima[0] == -minus_infinity);
        for (std::size_t i = 0; i < row.size(); ++i)
            row[i] = i % 64 < 32 ? 3e38F : -3e38F;
        CHECK(numbers());
        CHECK(maxima[1] == 3e38F);
    }
}

TEST_CASE("make_exponent ends for every reference") {
    for (const float scale : {1e-6F, 1.4426950F, 3e38F})
        for (const float reference : {minus_infinity, -minus_infinity, std::nanf("")})
            CHECK(row_kernels::make_exponent(reference, scale).scale == scale);
}

TEST_CASE("make_exponent keeps every kept logit in the kernels' range") {
    for (const float scale : {1e-6F, 0.01F, 1.4426950F, 1e4F, 1e20F, 3e38F})
        for (const float reference :
             {0.0F, -0.0F, 1e-40F, 20.0F, -20.0F, 12345.678F, 1e10F, -1e30F, 3e38F}) {
            const exponent e = row_kernels::make_exponent(reference, scale);
            INFO("scale " << scale << " reference " << reference);
            CHECK(e.lowest <= reference);
            CHECK((e.lowest - reference) * scale >= -125);
        }
}
