// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/lines.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec_engine/kernel/numbers.hpp>

using namespace specdec::engine;

namespace lines_tests {

TEMPLATE_TEST_CASE_SIG("parts of a line: rounding is round_to_bf16's, exp is close, in any width",
                       "", ((std::size_t Lanes), Lanes), 4, 8, 16) {
    using floats = typename detail::line_part<Lanes>::floats;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> x{0.0F,
                         -0.0F,
                         1.0F,
                         std::bit_cast<float>(0x3F808000U), // ties
                         std::bit_cast<float>(0x3F818000U),
                         infinity,
                         -infinity,
                         std::numeric_limits<float>::quiet_NaN(),
                         std::bit_cast<float>(0xFF800001U),
                         std::numeric_limits<float>::denorm_min(),
                         std::numeric_limits<float>::max()};
    for (int i = 0; x.size() < 64; ++i)
        x.push_back(-static_cast<float>(i) * 0.37F + 3.0F);
    for (std::size_t i = 0; i < x.size(); i += Lanes) {
        floats part;
        bf16_bits rounded[Lanes];
        detail::load(part, &x[i]);
        detail::store_rounded(part, rounded);
        detail::exponential(part);
        float power[Lanes];
        std::memcpy(power, &part, sizeof power);
        for (std::size_t j = 0; j < Lanes; ++j) {
            CHECK(rounded[j] == round_to_bf16(x[i + j]));
            if (std::abs(x[i + j]) < 87.0F)
                CHECK(power[j] == Approx(std::exp(x[i + j])).epsilon(3e-7));
        }
    }
}

TEMPLATE_TEST_CASE_SIG("parts of a line: the first lanes are kept, sums go in order", "",
                       ((std::size_t Lanes), Lanes), 4, 8, 16) {
    using floats = typename detail::line_part<Lanes>::floats;
    for (std::size_t n = 1; n <= 20; ++n) {
        floats parts[line_values / Lanes];
        float expected = 0.0F;
        for (std::size_t i = 0; i < line_values; ++i) {
            const float v = i % 2 == 0 ? 1e7F : -1.1F; // another order gives another sum
            parts[i / Lanes][i % Lanes] = v;
            expected += i < n ? v : 0.0F;
        }
        for (std::size_t p = 0; p < line_values / Lanes; ++p)
            detail::keep_first(parts[p], n, p * Lanes);
        CHECK(detail::total(parts) == expected);
    }
}

} // namespace lines_tests
