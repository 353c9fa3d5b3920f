// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/quantised_kernel.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "support/quantised_rows.hpp"
#include <specdec_engine/kernel/aligned_allocator.hpp>

using namespace specdec::engine;

namespace quantised_kernel_tests {

constexpr dtype types[] = {dtype::q8_0, dtype::q4_0, dtype::q4_1};

/// Those that this CPU has; the portable one first.
std::vector<isa> available() {
    std::vector<isa> sets;
    for (const isa set :
         {isa::portable, isa::avx2, isa::avx_vnni, isa::avx512, isa::avx512_vnni, isa::amx})
        if (usable(set) == set)
            sets.push_back(set);
    return sets;
}

struct problem {
    std::size_t rows, columns, n;
    aligned_vector<std::byte> memory;
    quantised_matrix w;
    std::vector<q8_block> x; ///< [n][stride]
    std::size_t stride;

    problem(dtype type, std::size_t rows_of_w, std::size_t columns_of_w, std::size_t inputs)
        : rows(rows_of_w), columns(columns_of_w), n(inputs),
          memory(quantised_matrix::footprint(rows, columns, type)),
          w(memory.data(), rows, columns, type), x(n * (w.length() + 2)), stride(w.length() + 2) {
        std::minstd_rand bits(static_cast<unsigned>(rows * 31 + columns));
        for (std::size_t r = 0; r < rows; ++r)
            w.write_blocks(r, toy::quantised_row(type, columns, bits));
        std::vector<float> column(columns);
        for (std::size_t c = 0; c < n; ++c) {
            for (float& v : column) // extremes often
                v = bits() / 7 % 3 == 0 ? (bits() / 7 % 2 == 0 ? 2.0F : -2.0F)
                                        : (static_cast<float>(bits() % 2001) - 1000.0F) * 2e-3F;
            column_quantiser_for(best_isa())(column.data(), columns, &x[c * stride]);
        }
    }

    /// [column][row], with the rows of the last panel padded.
    [[nodiscard]] std::vector<float> multiply_by(isa set, std::size_t first, std::size_t count,
                                                 std::size_t threads) const {
        const std::size_t padded = w.panels() * panel_rows;
        std::vector<float> y(count * padded);
        thread_pool team(threads);
        team.run(w.panels(), 1, [&](pool_share s) {
            multiply(quantised_kernels_for(set), w, s, x.data() + first * stride, stride, count,
                     [&](std::size_t row, std::size_t c, std::size_t some, const float* tile) {
                         for (std::size_t i = 0; i < some; ++i)
                             std::copy_n(tile + i * panel_rows, panel_rows,
                                         &y[(c + i) * padded + row]);
                     });
        });
        return y;
    }
};

TEST_CASE("integer kernels: the product of what was quantised, the same bits from all of them") {
    for (const dtype type : types)
        for (const auto& [rows, columns] :
             {std::pair<std::size_t, std::size_t>{1, 32}, {33, 64}, {70, 576}, {32, 1536}}) {
            const problem p(type, rows, columns, 19);
            const std::vector<float> y = p.multiply_by(isa::portable, 0, p.n, 1);
            const std::size_t padded = p.w.panels() * panel_rows;
            std::vector<float> row(columns);
            double worst = 0;
            for (std::size_t r = 0; r < rows; ++r) {
                p.w.read_row(r, row);
                for (std::size_t c = 0; c < p.n; ++c) {
                    double expected = 0, magnitude = 0;
                    for (std::size_t k = 0; k < columns; ++k) {
                        const q8_block& block = p.x[c * p.stride + k / 32];
                        const double term = double{row[k]} * block.values[k % 32] * block.scale;
                        expected += term;
                        magnitude += std::abs(term);
                    }
                    const double off = std::abs(y[c * padded + r] - expected);
                    worst = std::max(worst, off / (magnitude + 1e-9));
                }
            }
            CAPTURE(name(type), rows, columns);
            CHECK(worst < 1e-6);
            for (const isa set : available()) {
                CAPTURE(name(set));
                const std::vector<float> found = p.multiply_by(set, 0, p.n, 1);
                REQUIRE(std::memcmp(found.data(), y.data(), y.size() * sizeof(float)) == 0);
            }
            for (std::size_t c = 0; c < p.n; ++c)
                for (std::size_t r = rows; r < padded; ++r)
                    REQUIRE(y[c * padded + r] == 0.0F);
        }
}

TEST_CASE("integer kernels: grouping of columns and threads change no bit") {
    for (const dtype type : types)
        for (const isa set : available()) {
            const problem p(type, 101, 224, 18);
            const std::size_t padded = p.w.panels() * panel_rows;
            const std::vector<float> all = p.multiply_by(set, 0, p.n, 1);
            for (const std::size_t threads : {1U, 3U})
                for (const std::size_t n : {1U, 2U, 5U, 8U, 16U, 17U})
                    for (std::size_t first = 0; first + n <= p.n; ++first) {
                        const std::vector<float> some = p.multiply_by(set, first, n, threads);
                        CAPTURE(name(type), name(set), threads, first, n);
                        REQUIRE(std::memcmp(some.data(), all.data() + first * padded,
                                            some.size() * sizeof(float)) == 0);
                    }
        }
}

TEST_CASE("integer kernels: what is no number makes none") {
    for (const dtype type : types)
        for (const isa set : available())
            for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
                problem p(type, 32, 96, 2);
                std::vector<float> column(96, 0.5F);
                column[40] = bad;
                column_quantiser_for(set)(column.data(), 96, p.x.data());
                const std::vector<float> y = p.multiply_by(set, 0, 2, 1);
                for (std::size_t r = 0; r < 32; ++r) {
                    CHECK_FALSE(std::isfinite(y[r]));
                    CHECK(std::isfinite(y[32 + r]));
                }
            }
}

TEST_CASE("scales of every F16 number are widened as they are") {
    std::byte halves[8];
    float wide[4];
    for (std::uint32_t bits = 0; bits < 0x10000; bits += 4) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            halves[2 * i] = static_cast<std::byte>((bits + i) & 0xFF);
            halves[2 * i + 1] = static_cast<std::byte>((bits + i) >> 8);
        }
        detail::widen_halves(halves, wide);
        for (std::uint32_t i = 0; i < 4; ++i) {
            const float expected = widen_half(static_cast<std::uint16_t>(bits + i));
            if (std::isnan(expected))
                REQUIRE(std::isnan(wide[i]));
            else
                REQUIRE(std::bit_cast<std::uint32_t>(wide[i]) ==
                        std::bit_cast<std::uint32_t>(expected));
        }
    }
}

TEST_CASE("the integer kernel's name says what it uses") {
    CHECK(quantised_kernels_for(isa::portable).name == "portable");
    CHECK(quantised_kernels_for(isa::avx2).name == "avx2");
    CHECK(quantised_kernels_for(isa::avx_vnni).name == "avx_vnni");
    CHECK(quantised_kernels_for(isa::avx512).name == "avx2");
    CHECK(quantised_kernels_for(isa::avx512_bf16).name == "avx512_vnni");
}

} // namespace quantised_kernel_tests
