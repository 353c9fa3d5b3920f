// SPDX-License-Identifier: MIT
#include <specdec_engine/kernel/quantised_column.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec::engine;

namespace quantised_column_tests {

std::vector<q8_block> blocks(isa set, std::vector<float> x) {
    const std::size_t n = x.size();
    x.resize(blocks_of(n) * quantised_values);
    std::vector<q8_block> out(blocks_of(n));
    column_quantiser_for(set)(x.data(), n, out.data());
    return out;
}

const std::vector<isa> sets{isa::portable, isa::avx2, isa::avx_vnni, isa::avx512, isa::avx512_bf16};

TEST_CASE("a quantised column: nearest whole numbers, ties to even, and what belongs to them") {
    std::minstd_rand bits(5);
    std::vector<float> x(100);
    for (float& v : x)
        v = (static_cast<float>(bits() % 20001) - 10000.0F) * 1e-3F;
    x[0] = 12.7F; // the greatest of its block: a step is 0.1
    x[1] = 0.45F;
    const std::vector<q8_block> found = blocks(best_isa(), x);
    REQUIRE(found.size() == 4);
    for (std::size_t b = 0; b < found.size(); ++b) {
        float top = 0.0F;
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < quantised_values; ++k) {
            const float v = b * 32 + k < x.size() ? x[b * 32 + k] : 0.0F;
            top = std::max(top, std::abs(v));
            const q8_block& block = found[b];
            CHECK(block.scale * static_cast<float>(block.values[k]) ==
                  Approx(v).margin(0.5F * block.scale * 1.0001F));
            sum += block.values[k];
        }
        CHECK(found[b].scale == top / 127.0F);
        CHECK(found[b].sum == sum);
        CHECK(found[b].scaled_sum == found[b].scale * static_cast<float>(sum));
    }
    CHECK(found[0].values[0] == 127);
    // 127 / 8 = 15.875 of a step: exact, so these are ties
    const std::vector<q8_block> ties = blocks(best_isa(), {8.0F, -0.5F * 8 / 127, 4.0F, -8.0F});
    CHECK(ties[0].values[2] == 64); // 63.5
    CHECK(ties[0].values[3] == -127);
}

TEST_CASE("a column is quantised to the same bits with all instructions") {
    std::minstd_rand bits(6);
    std::vector<float> x(32 * 300);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::ldexp(static_cast<float>(bits() % 2000001) - 1000000.0F,
                          static_cast<int>(bits() % 30) - 40);
    const std::vector<q8_block> expected = blocks(isa::portable, x);
    for (const isa set : sets)
        if (set <= best_isa()) {
            const std::vector<q8_block> found = blocks(set, x);
            CHECK(std::memcmp(found.data(), expected.data(), sizeof(q8_block) * found.size()) == 0);
        }
}

TEST_CASE("blocks of nothing, of almost nothing and of what is no number") {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    for (const isa set : sets) {
        if (set > best_isa())
            continue;
        const q8_block zero = blocks(set, {0.0F, -0.0F})[0];
        CHECK(zero.scale == 0.0F);
        CHECK(zero.sum == 0);
        const q8_block tiny = blocks(set, {1e-38F, -1e-40F})[0];
        CHECK(tiny.sum == 0);
        CHECK(std::abs(tiny.scale) < 1e-38F);
        for (std::size_t at : {0U, 13U, 31U}) {
            std::vector<float> x(64, 0.25F);
            x[at] = -infinite;
            CHECK(std::isinf(blocks(set, x)[0].scale));
            CHECK(std::isfinite(blocks(set, x)[1].scale));
            x[at] = std::nanf("");
            CHECK(std::isnan(blocks(set, x)[0].scale));
            x[31 - at] = infinite;
            CHECK(std::isnan(blocks(set, x)[0].scale));
        }
    }
}

} // namespace quantised_column_tests
