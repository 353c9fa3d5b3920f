// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/panel_kernel.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/panels.hpp>

using namespace specdec::engine;

namespace panel_kernel_tests {

std::vector<isa> available() {
    std::vector<isa> sets;
    for (const isa set : {isa::portable, isa::avx2, isa::avx512, isa::avx512_bf16, isa::amx})
        if (set <= best_isa())
            sets.push_back(set);
    return sets;
}

template <class Value>
struct problem {
    Eigen::MatrixXf w; // rounded to Value
    Eigen::MatrixXf x; // [length, columns], rounded
    aligned_vector<Value> memory;
    panel_matrix<Value> panels;
    std::vector<Value> columns;
    std::size_t stride;

    problem(std::size_t rows, std::size_t length, std::size_t n)
        : w(rows, length), x(length, n), memory(panel_matrix<Value>::footprint(rows, length)),
          panels(memory.data(), rows, length), stride(panels.length() + 12) {
        std::minstd_rand bits(static_cast<unsigned>(rows * 31 + length));
        const auto random = [&] {
            const float v = (static_cast<float>(bits() % 2001) - 1000.0F) * 1e-3F;
            if constexpr (std::same_as<Value, float>)
                return v;
            else
                return widen(round_to_bf16(v));
        };
        for (Eigen::Index i = 0; i < w.size(); ++i)
            w.data()[i] = random();
        for (Eigen::Index i = 0; i < x.size(); ++i)
            x.data()[i] = random();
        std::vector<float> row(length);
        for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t k = 0; k < length; ++k)
                row[k] = w(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(k));
            panels.write_row(r, row);
        }
        columns.resize(n * stride);
        for (std::size_t c = 0; c < n; ++c)
            for (std::size_t k = 0; k < length; ++k)
                columns[c * stride + k] =
                    round_to<Value>(x(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(c)));
    }

    /// [column][row], with the rows of the last panel padded.
    std::vector<float> multiply_by(isa set, std::size_t first, std::size_t n,
                                   std::size_t threads) const {
        const std::size_t padded = panels.panels() * panel_rows;
        std::vector<float> y(n * padded);
        const auto kernels = panel_kernels_for<Value>(set);
        thread_pool team(threads);
        team.run(panels.panels(), 1, [&](pool_share s) {
            multiply(kernels, panels, s, columns.data() + first * stride, stride, n,
                     [&](std::size_t row, std::size_t c, std::size_t count, const float* tile) {
                         for (std::size_t i = 0; i < count; ++i)
                             std::copy_n(tile + i * panel_rows, panel_rows,
                                         &y[(c + i) * padded + row]);
                     });
        });
        return y;
    }
};

TEST_CASE("with FMA a product and its sum are rounded once, however the build is optimised") {
    constexpr std::size_t length = 40;
    const problem<float> p(panel_rows, length, 3);
    for (const isa set : available()) {
        if (set == isa::portable)
            continue;
        const std::vector<float> y = p.multiply_by(set, 0, 3, 1);
        for (std::size_t i = 0; i < y.size(); ++i) {
            const auto row = static_cast<Eigen::Index>(i % panel_rows),
                       column = static_cast<Eigen::Index>(i / panel_rows);
            float sums[2] = {};
            for (std::size_t k = 0; k < length; ++k) {
                float& sum = sums[set >= isa::avx512 ? k % 2 : 0];
                const auto at = static_cast<Eigen::Index>(k);
                sum = std::fma(p.w(row, at), p.x(at, column), sum);
            }
            CHECK(y[i] == sums[0] + sums[1]);
        }
    }
}

TEMPLATE_TEST_CASE("every kernel equals the plain Eigen product", "", float, bf16_bits) {
    for (const isa set : available())
        for (const auto& [rows, length] : {std::pair<std::size_t, std::size_t>{1, 1},
                                           {7, 3},
                                           {32, 4},
                                           {33, 18},
                                           {64, 172},
                                           {100, 577},
                                           {31, 1}}) {
            const problem<TestType> p(rows, length, 13);
            const Eigen::MatrixXf expected = p.w * p.x;
            for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 13U}) {
                CAPTURE(name(set), rows, length, n);
                const std::vector<float> y = p.multiply_by(set, 0, n, 1);
                const std::size_t padded = p.panels.panels() * panel_rows;
                float worst = 0.0F;
                for (std::size_t c = 0; c < n; ++c)
                    for (std::size_t r = 0; r < rows; ++r)
                        worst = std::max(worst, std::abs(y[c * padded + r] -
                                                         expected(static_cast<Eigen::Index>(r),
                                                                  static_cast<Eigen::Index>(c))));
                REQUIRE(worst <= 2e-6F * static_cast<float>(length + 10));
                for (std::size_t c = 0; c < n; ++c)
                    for (std::size_t r = rows; r < padded; ++r)
                        REQUIRE(y[c * padded + r] == 0.0F);
            }
        }
}

TEMPLATE_TEST_CASE("grouping of columns and threads change no bit", "", float, bf16_bits) {
    for (const isa set : available()) {
        const problem<TestType> p(101, 203, 13);
        const std::size_t padded = p.panels.panels() * panel_rows;
        const std::vector<float> all = p.multiply_by(set, 0, 13, 1);
        for (const std::size_t threads : {1U, 2U, 3U})
            for (std::size_t n = 1; n <= 8; ++n)
                for (std::size_t first = 0; first + n <= 13; ++first) {
                    const std::vector<float> some = p.multiply_by(set, first, n, threads);
                    CAPTURE(name(set), threads, first, n);
                    REQUIRE(std::memcmp(some.data(), all.data() + first * padded,
                                        some.size() * sizeof(float)) == 0);
                }
    }
}

TEMPLATE_TEST_CASE("a panel in pieces gives the bits of the whole", "", float, bf16_bits) {
    for (const isa set : available())
        for (const std::size_t length : {4U, 128U, 132U, 300U}) {
            if (set == isa::amx) // whose tiles take whole panels only
                continue;
            const problem<TestType> p(32, length, 13);
            const auto kernels = panel_kernels_for<TestType>(set);
            for (const std::size_t n : {1U, 5U, 6U, 7U, 13U}) {
                std::vector<float> sums(n * 2 * panel_rows), y(n * panel_rows);
                multiply_in_pieces(
                    kernels, p.panels.length(), n,
                    [&](std::size_t k, std::size_t) -> panel_piece<TestType> {
                        return {p.panels.panel(0) + k * panel_rows, p.columns.data() + k, p.stride};
                    },
                    sums.data());
                for (std::size_t i = 0; i < y.size(); ++i) {
                    const std::size_t at = i / panel_rows * 2 * panel_rows + i % panel_rows;
                    y[i] = sums[at] + sums[at + panel_rows];
                }
                CAPTURE(name(set), length, n);
                const std::vector<float> whole = p.multiply_by(set, 0, n, 1);
                REQUIRE(std::memcmp(y.data(), whole.data(), y.size() * sizeof(float)) == 0);
            }
        }
}

TEST_CASE("the kernel's name says what it uses") {
    CHECK(panel_kernels_for<float>(isa::portable).name == "portable");
    CHECK(panel_kernels_for<float>(isa::avx2).name == "avx2");
    CHECK(panel_kernels_for<float>(isa::avx512_bf16).name == "avx512");
    CHECK(panel_kernels_for<bf16_bits>(isa::avx512_bf16).name == "avx512_bf16");
}

} // namespace panel_kernel_tests
