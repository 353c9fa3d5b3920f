// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/panels.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec_engine/kernel/aligned_allocator.hpp>

using namespace specdec::engine;

TEMPLATE_TEST_CASE("rows come back as they were packed", "", float, bf16_bits) {
    constexpr std::size_t rows = 45;
    constexpr std::size_t columns = 7;
    aligned_vector<TestType> memory(panel_matrix<TestType>::footprint(rows, columns));
    REQUIRE(memory.size() == 64 * 8);
    panel_matrix<TestType> m(memory.data(), rows, columns);
    CHECK(m.panels() == 2);
    CHECK(m.length() == 8);
    CHECK(m.bytes() == memory.size() * sizeof(TestType));
    const auto value = [](std::size_t r, std::size_t k) {
        return static_cast<float>(r) + 64.0F * static_cast<float>(k % 2); // exact in BF16
    };
    std::vector<float> row(columns);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t k = 0; k < columns; ++k)
            row[k] = value(r, k);
        m.write_row(r, row);
    }
    for (std::size_t r = 0; r < rows; ++r) {
        m.read_row(r, row);
        for (std::size_t k = 0; k < columns; ++k)
            REQUIRE(row[k] == value(r, k));
    }
    aligned_vector<TestType> memory_of_copy(memory.size());
    panel_matrix<TestType> copy(memory_of_copy.data(), rows, columns);
    copy.copy_row(2, m, 40);
    copy.read_row(2, row);
    for (std::size_t k = 0; k < columns; ++k)
        CHECK(row[k] == value(40, k));
}

TEST_CASE("every value of a panel has a place of its own") {
    std::vector<int> seen_f32(panel_rows * 8);
    std::vector<int> seen_bf16(panel_rows * 8);
    for (std::size_t r = 0; r < panel_rows; ++r)
        for (std::size_t k = 0; k < 8; ++k) {
            ++seen_f32[panel_index<float>(r, k)];
            ++seen_bf16[panel_index<bf16_bits>(r, k)];
        }
    CHECK(seen_f32 == std::vector<int>(panel_rows * 8, 1));
    CHECK(seen_bf16 == std::vector<int>(panel_rows * 8, 1));
}
