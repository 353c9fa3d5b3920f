// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/lines.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/numbers.hpp>

using namespace specdec::engine;

namespace lines_tests {

/// Rounds so many numbers and takes the exponential of each.
template <std::size_t Lanes>
[[gnu::always_inline]] inline void round_and_exp(const float* x, bf16_bits* rounded, float* power) {
    typename detail::line_part<Lanes>::floats part;
    detail::load(part, x);
    detail::store_rounded(part, rounded);
    detail::exponential(part);
    std::memcpy(power, &part, sizeof part);
}

// As kernels are: the functions for wide parts are compiled for the instructions that have them.
void by_four(const float* x, bf16_bits* rounded, float* power) {
    round_and_exp<4>(x, rounded, power);
}
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void by_eight(const float* x, bf16_bits* rounded, float* power) {
    round_and_exp<8>(x, rounded, power);
}
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]] void
by_sixteen(const float* x, bf16_bits* rounded, float* power) {
    round_and_exp<16>(x, rounded, power);
}
#endif

TEST_CASE("parts of a line: rounding is round_to_bf16's, exp is close, in any width") {
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
    const auto check = [&](std::size_t lanes, const auto& work) {
        for (std::size_t i = 0; i < x.size(); i += lanes) {
            bf16_bits rounded[line_values];
            float power[line_values];
            work(&x[i], rounded, power);
            for (std::size_t j = 0; j < lanes; ++j) {
                CHECK(rounded[j] == round_to_bf16(x[i + j]));
                if (std::abs(x[i + j]) < 87.0F)
                    CHECK(power[j] == Approx(std::exp(x[i + j])).epsilon(3e-7));
            }
        }
    };
    check(4, by_four);
#if defined(__x86_64__)
    if (best_isa() >= isa::avx2)
        check(8, by_eight);
    if (best_isa() >= isa::avx512)
        check(16, by_sixteen);
#endif
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
