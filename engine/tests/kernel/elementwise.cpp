// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec_engine/kernel/aligned_allocator.hpp>

using namespace specdec::engine;

namespace elementwise_tests {

aligned_vector<float> filled(std::size_t n) {
    aligned_vector<float> x(column_stride(n));
    for (std::size_t i = 0; i < n; ++i)
        x[i] = std::sin(static_cast<float>(3 * i + 1)) * 3.0F;
    return x;
}

std::vector<isa> available() {
    std::vector<isa> sets;
    for (const isa set : {isa::portable, isa::avx2, isa::avx512})
        if (set <= best_isa())
            sets.push_back(set);
    return sets;
}

TEST_CASE("RMS norm agrees with its definition and leaves the padding zero") {
    for (const isa set : available())
        for (const std::size_t n : {1U, 15U, 16U, 37U, 64U}) {
            const aligned_vector<float> x = filled(n);
            aligned_vector<float> weight(column_stride(n));
            for (std::size_t i = 0; i < n; ++i)
                weight[i] = 0.5F + static_cast<float>(i % 3);
            aligned_vector<float> y(column_stride(n));
            column_functions_for<float>(set).rms_norm(x.data(), weight.data(), n, 1e-5F, y.data());
            double squares = 0.0;
            for (std::size_t i = 0; i < n; ++i)
                squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
            const double rms = std::sqrt(squares / static_cast<double>(n) + 1e-5);
            for (std::size_t i = 0; i < n; ++i)
                CHECK(static_cast<double>(y[i]) ==
                      Approx(static_cast<double>(x[i] * weight[i]) / rms).epsilon(1e-5));
            for (std::size_t i = n; i < y.size(); ++i)
                CHECK(y[i] == 0.0F);
        }
}

TEST_CASE("SwiGLU agrees with its definition, at the ends too") {
    alignas(64) float tile[64] = {-100.0F, -20.0F, -3.0F, -1.0F, -0.1F, 0.0F,
                                  0.1F,    1.0F,   3.0F,  20.0F, 100.0F};
    std::fill(tile + 16, tile + 32, 2.0F);
    std::copy(tile, tile + 32, tile + 32);
    for (const isa set : available()) {
        alignas(64) float y[48] = {};
        column_functions_for<float>(set).swiglu(tile, 2, y, 32);
        for (std::size_t i = 0; i < 16; ++i) {
            const auto z = static_cast<double>(tile[i]);
            CHECK(static_cast<double>(y[i]) ==
                  Approx(2.0 * z / (1.0 + std::exp(-z))).epsilon(1e-6).margin(1e-6));
            CHECK(y[32 + i] == y[i]);
        }
    }
}

TEST_CASE("softmax weights are exponentials with exact zeros behind") {
    for (const isa set : available())
        for (const std::size_t n : {1U, 5U, 16U, 17U, 45U}) {
            aligned_vector<float> scores = filled(64);
            scores[0] = -200.0F; // its exponential is as good as zero
            const aligned_vector<float> original = scores;
            aligned_vector<float> weights(64, -1.0F);
            const float scale =
                column_functions_for<float>(set).softmax(scores.data(), n, 64, weights.data());
            double greatest = -1e30;
            double sum = 0.0;
            for (std::size_t i = 0; i < n; ++i)
                greatest = std::max(greatest, static_cast<double>(original[i]));
            const auto exponential = [&](std::size_t i) {
                return std::exp(static_cast<double>(original[i]) - greatest);
            };
            for (std::size_t i = 0; i < n; ++i)
                sum += exponential(i);
            for (std::size_t i = 0; i < n; ++i)
                CHECK(static_cast<double>(weights[i] * scale) ==
                      Approx(exponential(i) / sum).epsilon(1e-6).margin(1e-30));
            for (std::size_t i = n; i < 64; ++i)
                CHECK(weights[i] == 0.0F);
        }
}

TEST_CASE("rounding lines is rounding values") {
    const aligned_vector<float> x = filled(64);
    for (const isa set : available()) {
        std::vector<bf16_bits> y(64);
        column_functions_for<bf16_bits>(set).scale(x.data(), 0.125F, 64, y.data());
        for (std::size_t i = 0; i < 64; ++i)
            CHECK(y[i] == round_to_bf16(0.125F * x[i]));
        std::vector<bf16_bits> part(64, bf16_bits{0x1234});
        column_functions_for<bf16_bits>(set).scale(x.data(), 0.125F, 21, part.data());
        for (std::size_t i = 0; i < 64; ++i)
            CHECK(part[i] == (i < 21 ? y[i] : bf16_bits{0x1234}));
        aligned_vector<float> nans(16, std::nanf(""));
        column_functions_for<bf16_bits>(set).scale(nans.data(), 1.0F, 16, y.data());
        CHECK(std::isnan(widen(y[3])));
    }
}

} // namespace elementwise_tests
