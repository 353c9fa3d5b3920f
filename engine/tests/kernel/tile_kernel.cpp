// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/tile_kernel.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/panels.hpp>

using namespace specdec::engine;

/// The kernels, and how they are wired in, by the portable unit: what the processor's does with
/// them is another test's (tiles.cpp).
namespace tile_kernel_tests {

panel_kernels<bf16_bits> kernels_by_tiles() {
    panel_kernels<bf16_bits> kernels = panel_kernels_for<bf16_bits>(isa::portable);
    kernels.by_tiles = &detail::multiply_by_tiles<portable_tiles>;
    return kernels;
}

TEST_CASE("tile kernel: products of panels, the same alone and in any group") {
    for (const auto& [rows, length] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {33, 18}, {64, 32}, {40, 100}, {32, 577}}) {
        aligned_vector<bf16_bits> memory(panel_matrix<bf16_bits>::footprint(rows, length));
        panel_matrix<bf16_bits> w(memory.data(), rows, length);
        std::minstd_rand bits(static_cast<unsigned>(rows + length));
        const auto random = [&] {
            return widen(round_to_bf16((static_cast<float>(bits() % 2001) - 1000.0F) * 1e-3F));
        };
        std::vector<std::vector<float>> numbers(rows, std::vector<float>(length));
        for (std::size_t r = 0; r < rows; ++r) {
            for (float& x : numbers[r])
                x = random();
            w.write_row(r, numbers[r]);
        }
        constexpr std::size_t n = 35; // more than two tiles
        const std::size_t stride = w.length() + 6, padded = w.panels() * panel_rows;
        std::vector<bf16_bits> x(n * stride);
        for (std::size_t c = 0; c < n; ++c)
            for (std::size_t k = 0; k < length; ++k)
                x[c * stride + k] = round_to_bf16(random());
        const auto product = [&](std::size_t first, std::size_t count) {
            std::vector<float> y(count * padded);
            multiply(kernels_by_tiles(), w, pool_share{0, 0, w.panels(), true},
                     x.data() + first * stride, stride, count,
                     [&](std::size_t row, std::size_t c, std::size_t some, const float* tile) {
                         for (std::size_t i = 0; i < some; ++i)
                             std::copy_n(tile + i * panel_rows, panel_rows,
                                         &y[(c + i) * padded + row]);
                     });
            return y;
        };
        const std::vector<float> all = product(0, n);
        for (std::size_t c = 0; c < n; ++c)
            for (std::size_t r = 0; r < padded; ++r) {
                double expected = 0;
                for (std::size_t k = 0; r < rows && k < length; ++k)
                    expected += double{numbers[r][k]} * double{widen(x[c * stride + k])};
                REQUIRE(std::abs(double{all[c * padded + r]} - expected) <=
                        1e-6 * static_cast<double>(length + 10));
            }
        for (const std::size_t count : {1U, 2U, 7U, 16U, 17U, 34U})
            for (std::size_t first = 0; first + count <= n; first += 3) {
                const std::vector<float> some = product(first, count);
                CAPTURE(rows, length, first, count);
                REQUIRE(std::memcmp(some.data(), all.data() + first * padded,
                                    some.size() * sizeof(float)) == 0);
            }
    }
}

} // namespace tile_kernel_tests
