// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/panels/panel_product.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <random>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

namespace panel_product_tests {

using namespace specdec::engine;

std::vector<float> some(std::size_t n, unsigned seed) {
    std::minstd_rand bits(seed);
    std::vector<float> out(n);
    for (float& v : out)
        v = (static_cast<float>(bits() % 2001) - 1000.0F) * 1e-3F;
    return out;
}

/// A [rows, length] by rows or by columns, B likewise, C likewise, in wider memory.
struct scene {
    std::size_t rows, columns, length;
    bool a_along, b_along, c_by_rows;
    std::vector<float> a, b, c;

    scene(std::size_t m, std::size_t n, std::size_t k, unsigned form)
        : rows(m), columns(n), length(k), a_along((form & 1U) != 0), b_along((form & 2U) != 0),
          c_by_rows((form & 4U) != 0), a(some((m + 3) * (k + 3), 1)), b(some((n + 5) * (k + 5), 2)),
          c(some((m + 1) * (n + 2), 3)) {}

    [[nodiscard]] product_factor left() const {
        return {a.data(), a_along ? 1 : rows + 3, a_along ? length + 3 : 1};
    }
    [[nodiscard]] product_factor right() const {
        return {b.data(), b_along ? 1 : columns + 5, b_along ? length + 5 : 1};
    }
    [[nodiscard]] std::size_t at(std::size_t i, std::size_t j) const {
        return c_by_rows ? i * (columns + 2) + j : i + j * (rows + 1);
    }
    [[nodiscard]] product_result out(std::vector<float>& to) const {
        return {to.data(), c_by_rows ? columns + 2 : 1, c_by_rows ? 1 : rows + 1};
    }
    /// The worst distance from the product in double, in parts of sum |a b|.
    [[nodiscard]] double worst(const std::vector<float>& found, bool add) const {
        double worst = 0;
        const product_factor l = left(), r = right();
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j) {
                double sum = add ? static_cast<double>(c[at(i, j)]) : 0, size = 1e-3;
                for (std::size_t k = 0; k < length; ++k) {
                    const double x = static_cast<double>(l.data[i * l.across + k * l.along]) *
                                     static_cast<double>(r.data[j * r.across + k * r.along]);
                    sum += x;
                    size += std::abs(x);
                }
                worst = std::max(worst,
                                 std::abs(static_cast<double>(found[at(i, j)]) - sum) / (size + 1));
            }
        return worst;
    }
};

std::vector<isa> instruction_sets() {
    std::vector<isa> sets{isa::portable};
    for (const isa set : {isa::avx2, isa::avx512, isa::avx512_bf16, isa::amx})
        if (usable(set) == set)
            sets.push_back(set);
    return sets;
}

/// Of each instruction set, and of tiles in portable code.
template <class Value>
std::vector<panel_kernels<Value>> all_kernels() {
    std::vector<panel_kernels<Value>> all;
    for (const isa set : instruction_sets())
        all.push_back(panel_kernels_for<Value>(set));
    if constexpr (std::same_as<Value, bf16_bits>) {
        all.push_back(all.front());
        all.back().by_tiles = &detail::multiply_by_tiles<portable_tiles>;
        all.back().name = "tiles in portable code";
    }
    return all;
}

template <class Value>
void check_all(double bound) {
    for (const panel_kernels<Value>& kernels : all_kernels<Value>()) {
        panel_product<Value> product(kernels, isa::amx);
        thread_pool one(1), three(3);
        for (const auto& [m, n, k] : {std::tuple{1U, 1U, 1U},
                                      {32U, 6U, 64U},
                                      {33U, 7U, 65U},
                                      {70U, 40U, 30U},
                                      {31U, 13U, 2U},
                                      {5U, 100U, 1030U},
                                      {100U, 5U, 2051U}})
            for (unsigned form = 0; form < 8; ++form)
                for (const bool add : {false, true}) {
                    INFO(kernels.name << " " << m << " " << n << " " << k << " form " << form);
                    const scene s(m, n, k, form);
                    std::vector<float> found = s.c, again = s.c;
                    product.run(one, s.left(), m, s.right(), n, k, s.out(found), add);
                    CHECK(s.worst(found, add) < bound);
                    product.run(three, s.left(), m, s.right(), n, k, s.out(again), add);
                    CHECK(found == again); // what lies between rows, too
                    std::vector<float> untouched = found;
                    for (std::size_t i = 0; i < m; ++i)
                        for (std::size_t j = 0; j < n; ++j)
                            untouched[s.at(i, j)] = s.c[s.at(i, j)];
                    CHECK(untouched == s.c);
                }
    }
}

TEST_CASE("products of all forms are those of double, whatever the threads, and write nothing else",
          "[computes]") {
    check_all<float>(1e-6);
    check_all<bf16_bits>(4.5e-3);
}

TEST_CASE("an element does not depend on the columns beside it") {
    thread_pool team(1);
    for (const panel_kernels<bf16_bits>& kernels : all_kernels<bf16_bits>()) {
        panel_product<bf16_bits> product(kernels, isa::amx);
        const scene s(40, 20, 100, 3);
        std::vector<float> all = s.c, alone = s.c;
        product.run(team, s.left(), 40, s.right(), 20, 100, s.out(all), false);
        product_factor right = s.right();
        right.data += 7 * right.across;
        product_result out = s.out(alone);
        out.data += 7 * out.column;
        product.run(team, s.left(), 40, right, 1, 100, out, false);
        for (std::size_t i = 0; i < 40; ++i)
            CHECK(alone[s.at(i, 7)] == all[s.at(i, 7)]);
    }
}

TEST_CASE("rows are packed to the same bits with every instruction set") {
    const scene s(40, 20, 101, 0);
    thread_pool team(1);
    const auto found_by = [&](isa set) {
        panel_product<bf16_bits> product(panel_kernels_for<bf16_bits>(isa::portable), set);
        std::vector<float> found = s.c;
        product.run(team, s.left(), 40, s.right(), 20, 101, s.out(found), false);
        return found;
    };
    for (const isa set : instruction_sets())
        CHECK(found_by(set) == found_by(isa::portable));
}

TEST_CASE("instructions that the CPU lacks are not used") {
    CHECK(panel_product<float>(isa::portable).kernel() == "portable");
    CHECK(panel_product<bf16_bits>(isa::amx).kernel() ==
          panel_kernels_for<bf16_bits>(best_isa()).name);
}

TEST_CASE("no length: zeros, or what was there") {
    thread_pool team(1);
    panel_product<float> product;
    std::vector<float> c = some(6, 1);
    const std::vector<float> before = c;
    const product_factor none{c.data(), 1, 1};
    product.run(team, none, 2, none, 3, 0, {c.data(), 1, 2}, true);
    CHECK(c == before);
    product.run(team, none, 2, none, 3, 0, {c.data(), 1, 2}, false);
    CHECK(c == std::vector<float>(6));
}

} // namespace panel_product_tests
