// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/quantised_panels.hpp>

#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "support/quantised_rows.hpp"
#include <specdec_engine/file/quantised.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>

using namespace specdec::engine;

namespace quantised_panels_tests {

constexpr dtype types[] = {dtype::q8_0, dtype::q4_0, dtype::q4_1};

TEST_CASE("rows of a quantised file keep every number, and take the file's bytes") {
    constexpr std::size_t rows = 45, columns = 96;
    for (const dtype type : types) {
        CAPTURE(name(type));
        aligned_vector<std::byte> memory(quantised_matrix::footprint(rows, columns, type));
        CHECK(memory.size() == 64 * 3 * block_bytes(type));
        quantised_matrix m(memory.data(), rows, columns, type);
        CHECK(m.panels() == 2);
        CHECK(m.length() == 3);
        CHECK(m.bytes() == memory.size());
        CHECK(m.panel_bytes(1).data() == memory.data() + memory.size() / 2);
        std::minstd_rand bits(3);
        std::vector<std::byte> file;
        for (std::size_t r = 0; r < rows; ++r) {
            const auto row = toy::quantised_row(type, columns, bits);
            m.write_blocks(r, row);
            file.insert(file.end(), row.begin(), row.end());
        }
        tensor t;
        t.type = type;
        t.shape = {rows, columns};
        t.bytes = file;
        aligned_vector<std::byte> memory_of_copy(memory.size());
        quantised_matrix copy(memory_of_copy.data(), rows, columns, type);
        std::vector<float> expected(columns), found(columns);
        for (std::size_t r = 0; r < rows; ++r) {
            read_row(t, r, expected);
            m.read_row(r, found);
            REQUIRE(found == expected);
            copy.copy_row(rows - 1 - r, m, r);
            copy.read_row(rows - 1 - r, found);
            REQUIRE(found == expected);
        }
    }
}

TEST_CASE("rows of numbers become Q8_0: half a step away at most, padded with zeros") {
    constexpr std::size_t rows = 3, columns = 50;
    aligned_vector<std::byte> memory(quantised_matrix::footprint(rows, columns, dtype::q8_0));
    quantised_matrix m(memory.data(), rows, columns, dtype::q8_0);
    std::minstd_rand bits(4);
    std::vector<float> row(columns), found(columns);
    for (float& v : row)
        v = (static_cast<float>(bits() % 20001) - 10000.0F) * 1e-4F;
    m.write_row(1, row);
    m.read_row(1, found);
    for (std::size_t k = 0; k < columns; ++k)
        CHECK(found[k] == Approx(row[k]).margin(0.51 / 127));
    std::vector<float> again(columns);
    m.write_row(2, found); // what is Q8_0 already stays
    m.read_row(2, again);
    CHECK(again == found);
    m.read_row(0, found);
    CHECK(found == std::vector<float>(columns));
    std::byte block[34];
    std::vector<float> large(32, 1.0F);
    large[7] = -greatest_q8_0;
    quantise_to_q8_0(large.data(), block);
    CHECK(std::to_integer<std::int8_t>(block[2 + 7]) == -127);
    float back[32];
    dequantise_block(dtype::q8_0, block, back);
    CHECK(back[7] == -greatest_q8_0);
}

} // namespace quantised_panels_tests
